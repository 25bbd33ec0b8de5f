/** The page of a dashboard: the data of one customer that its signed address grants access to. */
import { useEffect, useMemo } from 'react';
import { ApiError } from '../api/client.ts';
import { useApi } from '../api/queries.ts';
import { isLanguage, speak } from '../format/language.ts';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { Balances } from './balances.tsx';
import styles from './dashboard.module.css';
import { Invoices } from './invoices.tsx';
import { applyLook } from './look.ts';
import { ShownProvider, type View } from './shown.tsx';
import { Usage } from './usage.tsx';
import { WORDS } from './words.ts';

const PARTS = { invoices: Invoices, usage: Usage, commits_and_credits: Balances, credits: Balances } as const;

/** `hasEnded`: the service has refused a later request of this page. */
export function Dashboard({ hasEnded }: { readonly hasEnded: boolean }) {
  const query = useApi('GET /v1/dashboards/view', {}, { staleTime: Number.POSITIVE_INFINITY });
  if (query.data !== undefined) return <Shown view={query.data.data} hasEnded={hasEnded} />;
  if (query.error instanceof ApiError && query.error.status === 403) return <Empty>{WORDS.en.ended}</Empty>;
  return query.isError ? <Failure error={query.error} again={() => void query.refetch()} /> : <Loading />;
}

function Shown({ view, hasEnded }: { readonly view: View; readonly hasEnded: boolean }) {
  const words = useMemo(() => {
    const language = isLanguage(view.options.language) ? view.options.language : 'en';
    // Before anything below is rendered.
    speak(language);
    document.documentElement.lang = language;
    applyLook(view.options.theme, view.colors);
    return WORDS[language];
  }, [view]);
  const shown = useMemo(() => ({ view, words }), [view, words]);
  const title = words.titles[view.dashboard];
  useEffect(() => {
    document.title = `${title} · ${view.customer_name}`;
  }, [title, view]);
  const Part = PARTS[view.dashboard];
  return (
    <ShownProvider value={shown}>
      <main className={styles.page}>
        <header className={styles.top}>
          <h1>{title}</h1>
          <span className="soft">{view.customer_name}</span>
        </header>
        {hasEnded ? <Empty>{words.ended}</Empty> : <Part />}
      </main>
    </ShownProvider>
  );
}
