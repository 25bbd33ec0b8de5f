/** Custom fields of an object, in one line. */
export function CustomFields({ fields }: { readonly fields: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(fields);
  if (entries.length === 0) return null;
  return (
    <span className="soft">{entries.map(([name, value]) => `${name}: ${String(value)}`).join(', ')}</span>
  );
}
