/** Parses `/metrics`, the text format of Prometheus. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function parseMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const found = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found === null) return [];
    const [, name = '', labels = '', value = ''] = found;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text_ = '']) => [
      key,
      text_,
    ]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

export function figureOf(samples: readonly Sample[], name: string): number {
  return samples.reduce((sum, sample) => (sample.name === name ? sum + sample.value : sum), 0);
}

/** The upper bound of the bucket that contains the quantile; null without a sample. */
export function quantileOf(
  samples: readonly Sample[],
  name: string,
  route: string,
  quantile: number,
): number | null {
  const buckets = new Map<number, number>();
  for (const sample of samples) {
    if (sample.name !== `${name}_bucket` || sample.labels.route !== route) continue;
    const bound = sample.labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(sample.labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + sample.value);
  }
  const sorted = [...buckets].sort(([a], [b]) => a - b);
  const count = sorted.at(-1)?.[1] ?? 0;
  if (count === 0) return null;
  return sorted.find(([, below]) => below >= count * quantile)?.[0] ?? null;
}
