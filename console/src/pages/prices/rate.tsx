/** A rate: its price, or a line for each tier. */
import { type Rate, rateParts } from './rate-text.ts';

export function RateFigure({ rate }: { readonly rate: Rate }) {
  const parts = rateParts(rate);
  if (parts.length === 1) return <span className="nowrap">{parts[0]?.price}</span>;
  return (
    <>
      {parts.map(({ price, upTo }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a tier is known by its place.
        <span key={index} className="line nowrap">
          <span className="soft small">
            {upTo === null ? `above ${parts[index - 1]?.upTo ?? '0'}` : `up to ${upTo}`}
          </span>{' '}
          {price}
        </span>
      ))}
    </>
  );
}
