/** The frame of a page: its title, its actions, sections, figures, tabs. */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId } from 'react';
import styles from './page.module.css';

/** A page with its heading, which is the title of the tab too. */
export function Page(props: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const { title } = props;
  useEffect(() => {
    document.title = `${title} · tallyhouse`;
  }, [title]);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.title}>
          <h1>{title}</h1>
          {props.about === undefined ? null : <div className={styles.about}>{props.about}</div>}
        </div>
        {props.actions === undefined ? null : <div className={styles.actions}>{props.actions}</div>}
      </header>
      {props.children}
    </div>
  );
}

export function Section(props: {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.sectionHead}>
        <h2 id={id}>{props.title}</h2>
        {props.aside}
      </div>
      {props.children}
    </section>
  );
}

/** A row of controls; each is in a `Field`. */
export function Filters({ children }: { readonly children: ReactNode }) {
  return <div className={styles.filters}>{children}</div>;
}

export function Field({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is given as a child.
    <label className={styles.field}>
      {label}
      {children}
    </label>
  );
}

export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className={styles.facts}>{children}</dl>;
}

export function Fact(props: {
  readonly label: string;
  readonly children: ReactNode;
  readonly note?: ReactNode;
}) {
  return (
    <div className={styles.fact}>
      <dt>{props.label}</dt>
      <dd>
        {props.children}
        {props.note === undefined ? null : <div className={styles.note}>{props.note}</div>}
      </dd>
    </div>
  );
}

/** Views of one page, each with an address: the search parameter `view`. The first is shown without one. */
export function Tabs(props: {
  readonly label: string;
  readonly views: readonly (readonly [view: string, title: string])[];
  readonly current: string;
}) {
  return (
    <nav className={styles.tabs} aria-label={props.label}>
      {props.views.map(([view, title], index) => (
        <Link
          key={view}
          to="."
          search={index === 0 ? {} : ({ view } as never)}
          className={styles.tab ?? ''}
          activeOptions={{ exact: true }}
          {...(view === props.current ? { 'aria-current': 'page' as const } : {})}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}

/** A few ways to see or edit something, one of which is selected. */
export function Switch<View extends string>(props: {
  readonly label: string;
  readonly views: readonly (readonly [view: View, title: string])[];
  readonly current: string;
  onChoose(view: View): void;
}) {
  return (
    <fieldset className={styles.switch}>
      <legend className="hidden">{props.label}</legend>
      {props.views.map(([view, title]) => (
        <button
          key={view}
          type="button"
          aria-pressed={view === props.current}
          onClick={() => props.onChoose(view)}
        >
          {title}
        </button>
      ))}
    </fieldset>
  );
}
