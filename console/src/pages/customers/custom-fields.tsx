/** Custom fields of an object, in one line. */
export function CustomFields({ fields }: { readonly fields: Readonly<Record<string, unknown>> }) {
  return (
    <span className="soft">
      {Object.entries(fields)
        .map(([name, value]) => `${name}: ${String(value)}`)
        .join(', ')}
    </span>
  );
}
