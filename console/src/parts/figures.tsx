/** Single values: amounts, prices, quantities, instants, ids, states. Each has its exact form in its title. */
import Big from 'big.js';
import { useEffect, useState } from 'react';
import type { Exact } from '../api/exact.ts';
import {
  type CreditType,
  documentQuantityText,
  lineAmountText,
  moneyText,
  priceText,
  rawText,
  shortQuantityText,
} from '../format/money.ts';
import { agoText, dayText, timeText } from '../format/time.ts';
import { useCopied } from './copy.ts';
import styles from './figures.module.css';

export function Money({ amount, unit }: { readonly amount: Exact | Big; readonly unit: CreditType }) {
  return (
    <span className="nowrap" title={rawText(amount, unit)}>
      {moneyText(amount, unit)}
    </span>
  );
}

/** The amount of a line of an invoice. */
export function LineAmount(props: {
  readonly amount: Exact | Big;
  /** Decides the number of places; without it, those of the amount. */
  readonly price?: Exact | Big | undefined;
  readonly unit: CreditType;
}) {
  const { amount, price = amount, unit } = props;
  return (
    <span className="nowrap" title={rawText(amount, unit)}>
      {lineAmountText(amount, price, unit)}
    </span>
  );
}

/** A price for one unit, with all its digits. */
export function Price({ amount, unit }: { readonly amount: Exact | Big; readonly unit: CreditType }) {
  return (
    <span className="nowrap" title={rawText(amount, unit)}>
      {priceText(amount, unit)}
    </span>
  );
}

export function Quantity({ value }: { readonly value: Exact | Big }) {
  return (
    <span className="nowrap" title={typeof value === 'string' ? value : value.toFixed()}>
      {shortQuantityText(value)}
    </span>
  );
}

/** A quantity of an invoice; all its digits are in the title and in the CSV. */
export function DocumentQuantity({ value }: { readonly value: Exact | Big }) {
  return (
    <span className="nowrap" title={typeof value === 'string' ? value : value.toFixed()}>
      {documentQuantityText(value)}
    </span>
  );
}

export function Day({ at }: { readonly at: string }) {
  return (
    <time className="nowrap" dateTime={at} title={at}>
      {dayText(at)}
    </time>
  );
}

export function Time({ at }: { readonly at: string }) {
  return (
    <time className="nowrap" dateTime={at} title={at}>
      {timeText(at)}
    </time>
  );
}

/** How long ago by the clock of the service, which is `offsetMs` ahead of the one here. */
export function Ago({ at, offsetMs }: { readonly at: string; readonly offsetMs: number }) {
  const [now, setNow] = useState(() => Date.now() + offsetMs);
  useEffect(() => {
    setNow(Date.now() + offsetMs);
    const timer = setInterval(() => setNow(Date.now() + offsetMs), 1_000);
    return () => clearInterval(timer);
  }, [offsetMs]);
  return (
    <time className="nowrap" dateTime={at} title={at}>
      {agoText(at, now)}
    </time>
  );
}

/** An id, abbreviated; a click copies all of it. */
export function CopyId(props: {
  readonly id: string;
  readonly whole?: boolean;
  /** The text that is shown instead, if the id is visible beside it. */
  readonly label?: string;
}) {
  const { id, whole = false, label } = props;
  const { isCopied, copy } = useCopied();
  return (
    <button
      type="button"
      className={styles.id}
      title={`${id} – press to copy`}
      aria-label={isCopied ? `Copied ${id}` : `Copy ${id}`}
      onClick={() => void copy(id)}
    >
      {isCopied ? 'copied' : (label ?? (whole || id.length <= 12 ? id : `${id.slice(0, 8)}…`))}
    </button>
  );
}

const TONES: Readonly<Record<string, string>> = {
  DRAFT: 'quiet',
  FINALIZED: 'good',
  VOID: 'quiet',
  success: 'good',
  failure: 'bad',
  in_alarm: 'bad',
  ok: 'good',
};

/** A state, in words; the tone only supports it. */
export function Status({
  state,
  tone,
}: {
  readonly state: string;
  readonly tone?: 'good' | 'bad' | 'warn' | 'quiet';
}) {
  return (
    <span className={styles.status} data-tone={tone ?? TONES[state] ?? 'quiet'}>
      {state.replaceAll('_', ' ').toLowerCase()}
    </span>
  );
}

/** A difference: with its sign, and muted if it is zero. */
export function Difference(props: { readonly amount: Exact | Big; readonly unit: CreditType }) {
  const { unit } = props;
  const amount = new Big(props.amount);
  const text = moneyText(amount, unit);
  return (
    <span className={amount.eq(0) ? 'soft nowrap' : 'nowrap'} title={rawText(amount, unit)}>
      {amount.gt(0) ? `+${text}` : text}
    </span>
  );
}
