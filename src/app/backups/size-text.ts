/** Sizes as text for people. */

/** In megabytes, or in kilobytes if it is less than one megabyte. */
export function sizeText(bytes: number): string {
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1_000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${size.toLocaleString('en-US', { maximumFractionDigits: 1 })} ${unit}`;
}
