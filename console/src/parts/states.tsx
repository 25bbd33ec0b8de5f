/** The texts while figures are loading, cannot be read, or do not exist. Each states what to do. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import { spoken } from '../format/language.ts';
import styles from './states.module.css';

/** The empty state: why there is nothing, and the button that creates something. */
export function Empty({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p>{children}</p>
      {action}
    </div>
  );
}

/** A note about the shown data. */
export function Note({ children }: { readonly children: ReactNode }) {
  return (
    <div className={styles.note} role="note">
      {children}
    </div>
  );
}

/** A refusal in the words of the API, with a retry. */
export function Failure({ error, again }: { readonly error: unknown; readonly again?: () => void }) {
  const message = error instanceof Error ? error.message : String(error);
  const status = error instanceof ApiError && error.status > 0 ? ` (${error.status})` : '';
  return (
    <div className={styles.error} role="alert">
      <span>
        {message}
        {status}
      </span>
      {again === undefined ? null : (
        <button type="button" onClick={again}>
          {spoken().again}
        </button>
      )}
    </div>
  );
}

/** The error of the field above; nothing if `text` is null. */
export function Problem({ text }: { readonly text: string | null }) {
  if (text === null) return null;
  return (
    <p className={styles.problem} role="alert">
      {text}
    </p>
  );
}

export function Loading({ what }: { readonly what?: string }) {
  return (
    <div className={styles.loading} role="status">
      <span className="hidden">
        {spoken().loading}
        {what === undefined ? '' : ` ${what}`}…
      </span>
      <div className={styles.bar} />
      <div className={styles.bar} />
      <div className={styles.bar} />
    </div>
  );
}

/** The progress of a long read. */
export function Progress(props: {
  readonly label: string;
  readonly done: number;
  readonly of?: number | undefined;
}) {
  return (
    <div className={styles.progress} role="status">
      {props.of === undefined ? (
        <progress aria-label={props.label} />
      ) : (
        <progress aria-label={props.label} value={props.done} max={props.of} />
      )}
      <span>{props.label}</span>
    </div>
  );
}

/** Shows the result of a query, or that it is loading, or its failure. */
export function Loaded<Data>(props: {
  readonly query: UseQueryResult<Data>;
  readonly what?: string;
  readonly children: (data: Data) => ReactNode;
}) {
  const { query, what } = props;
  if (query.data !== undefined) return <>{props.children(query.data)}</>;
  if (query.isError) return <Failure error={query.error} again={() => void query.refetch()} />;
  return <Loading {...(what === undefined ? {} : { what })} />;
}
