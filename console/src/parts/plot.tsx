/** Draws a chart with uPlot. The only place where figures become doubles: for pixels. */
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import Big from 'big.js';
import { forPixels } from '../api/exact.ts';
import { shortDayText } from '../format/time.ts';
import { type ChartProps, colourOf } from './series.ts';

type PlotProps = ChartProps & { onPoint(index: number | null): void };

export default function Plot(props: PlotProps) {
  const holder = useRef<HTMLDivElement>(null);
  const { starts, series, kind } = props;
  const latest = useRef(props);
  latest.current = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another chart is drawn where these differ.
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    let plot = draw(element, latest.current);
    const redraw = () => {
      plot.destroy();
      plot = draw(element, latest.current);
    };
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    resized.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      resized.disconnect();
      plot.destroy();
    };
  }, [starts, series, kind]);
  return <div ref={holder} style={{ width: '100%', height: '100%' }} />;
}

function draw(element: HTMLElement, props: PlotProps): UPlot {
  const { starts, series, kind, onPoint, axisText = props.text } = props;
  const colours = resolvedColours(element, [
    ...series.map((each, index) => colourOf(index, each)),
    'var(--line)',
    'var(--soft)',
  ]);
  const [line = '', soft = ''] = colours.slice(-2);
  const drawn = drawnValues(props);
  const order = series.map((_, index) => index);
  // For stacked bars the whole stack is drawn first, and the lower ones over it.
  if (kind === 'bars') order.reverse();
  const style = getComputedStyle(element);
  const font = `${style.getPropertyValue('--small')} ${style.fontFamily}`;
  const axis = { stroke: soft, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  return new UPlot(
    {
      width: element.clientWidth,
      height: element.clientHeight,
      tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
      legend: { show: false },
      cursor: {
        points: { show: kind === 'lines' || kind === 'steps' },
        drag: { x: false, y: false },
        y: false,
      },
      scales: {
        x: { time: true, range: (_plot, min, max) => timesOf(kind, starts, min, max) },
        y: { range: (_plot, min, max) => rangeOf(min, max) },
      },
      axes: [
        { ...axis, grid: { show: false }, space: 70, size: 30, values: dayLabels },
        {
          ...axis,
          size: (_plot, labels) => 14 + 7 * Math.max(0, ...(labels ?? []).map((each) => each.length)),
          values: (_plot, splits) => splits.map((split) => axisText(roundFigure(split))),
        },
      ],
      series: [{}, ...order.map((index) => seriesOptions(kind, colours[index] ?? soft, index))],
      hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] },
    },
    [instantsOf(props), ...order.map((index) => drawn[index] ?? [])],
    element,
  );
}

/** Removes rounding errors of doubles: 0.30000000000000004 is 0.3. */
function roundFigure(split: number): Big {
  return new Big(split.toPrecision(12));
}

/** The share of one window, which leaves a gap between windows. */
const BARS_WIDTH = 0.78;

function seriesOptions(kind: ChartProps['kind'], colour: string, index: number): UPlot.Series {
  if (kind === 'lines' || kind === 'steps') {
    const steps = kind === 'steps' ? UPlot.paths.stepped?.({ align: 1 }) : undefined;
    return { stroke: colour, width: 1.75, points: { show: false }, ...(steps && { paths: steps }) };
  }
  const paths =
    kind === 'beside'
      ? UPlot.paths.bars?.({ size: [BARS_WIDTH / 2, 30], align: index === 0 ? -1 : 1 })
      : UPlot.paths.bars?.({ size: [BARS_WIDTH, 60] });
  return { stroke: colour, fill: colour, width: 0, points: { show: false }, ...(paths && { paths }) };
}

function drawnValues({ series, kind }: ChartProps): (number | null)[][] {
  if (kind === 'bars') return stacked(series);
  const all = series.map(({ values }) => values.map(pixelOf));
  return kind === 'steps' ? all.map(heldToTheEnd) : all;
}

/** The figure of the last window is extended to its end. */
function heldToTheEnd(values: readonly (number | null)[]): (number | null)[] {
  const last = values.findLastIndex((value) => value !== null);
  return [...values, null].map((value, at) => (at === last + 1 ? (values[last] ?? null) : value));
}

/** In seconds; for steps, including the end of the last window. */
function instantsOf({ starts, kind }: ChartProps): number[] {
  const instants = starts.map((start) => Date.parse(start) / 1_000);
  const [last = 0, before = last] = instants.slice(-2).reverse();
  return kind === 'steps' ? [...instants, last + (last - before)] : instants;
}

function pixelOf(value: Big | null): number | null {
  return value === null ? null : forPixels(value);
}

/** For each series the end of the stack with it: above zero, and below it for negative ones. */
function stacked(series: PlotProps['series']): (number | null)[][] {
  const above: number[] = [];
  const below: number[] = [];
  return series.map(({ values }) =>
    values.map((value, at) => {
      const height = pixelOf(value);
      if (height === null || height === 0) return null;
      const stack = height > 0 ? above : below;
      stack[at] = (stack[at] ?? 0) + height;
      return stack[at] ?? null;
    }),
  );
}

/** Bars are centred on their instants: half a window more on each side. */
function timesOf(
  kind: PlotProps['kind'],
  starts: readonly string[],
  min: number,
  max: number,
): [number, number] {
  const [first = '', second = first] = starts;
  const isBars = kind === 'bars' || kind === 'beside';
  const half = isBars ? (Date.parse(second) - Date.parse(first)) / 2_000 : 0;
  return [min - half, max + half];
}

function rangeOf(min: number, max: number): [number, number] {
  const [low, high] = [Math.min(0, min ?? 0), Math.max(0, max ?? 0)];
  return low === 0 && high === 0 ? [0, 1] : [low * 1.06, high * 1.06];
}

function dayLabels(_plot: UPlot, splits: number[]): string[] {
  return splits.map((seconds) => {
    const at = new Date(seconds * 1_000);
    const hour = at.getUTCHours();
    return hour === 0 ? shortDayText(at.toISOString()) : `${String(hour).padStart(2, '0')}:00`;
  });
}

/** A canvas needs the resolved colours of the current scheme. */
function resolvedColours(element: HTMLElement, colours: readonly string[]): string[] {
  const probe = document.createElement('span');
  element.append(probe);
  const resolved = colours.map((colour) => {
    probe.style.color = colour;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return resolved;
}
