/** Saved queries: opened, saved under a name, deleted. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useChange } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { timeText } from '../../format/time.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Field, Filters, Section } from '../../parts/page.tsx';
import { Empty, Failure, Loaded } from '../../parts/states.tsx';
import { useWriteRefusal } from '../../session/session.ts';
import styles from './ask.module.css';

type SavedQuery = Schemas['SavedQuery'];

function useSavedQueries() {
  return useQuery({
    queryKey: keyOf('GET /v1/sql/queries'),
    queryFn: ({ signal }) => callAll('GET /v1/sql/queries', { query: { limit: '100' } }, { signal }),
  });
}

export function SavedQueries({ sql }: { readonly sql: string | undefined }) {
  const query = useSavedQueries();
  return (
    <Section title="Saved queries">
      <Loaded query={query} what="saved queries">
        {(queries) =>
          queries.length === 0 ? (
            <Empty>
              No query is saved yet. Give the one below a name, and everybody with read access finds it here.
            </Empty>
          ) : (
            <ul className={styles.queries}>
              {queries.map((each) => (
                <li key={each.id}>
                  <Link
                    to="/ask"
                    search={{ sql: each.sql }}
                    title={`Saved by ${each.saved_by}, ${timeText(each.saved_at)}`}
                    {...(each.sql === sql ? { 'aria-current': 'true' as const } : {})}
                  >
                    {each.name}
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

/** Saves the text under a name; deletes the saved query that has this text. */
export function SaveQuery({ sql }: { readonly sql: string }) {
  const saved = useSavedQueries().data?.find((each) => each.sql === sql);
  return <SaveAs key={saved?.id ?? ''} sql={sql} saved={saved} />;
}

function SaveAs({ sql, saved }: { readonly sql: string; readonly saved: SavedQuery | undefined }) {
  const refusal = useWriteRefusal();
  const save = useChange('POST /v1/sql/queries/save');
  const remove = useChange('POST /v1/sql/queries/delete');
  const [name, setName] = useState(saved?.name ?? '');
  return (
    <>
      <Filters>
        <Field label="Save under the name">
          <input value={name} maxLength={200} size={28} onChange={({ target }) => setName(target.value)} />
        </Field>
        <button
          type="button"
          disabled={
            refusal !== undefined || name.trim() === '' || sql.trim() === '' || saved?.name === name.trim()
          }
          title={refusal}
          onClick={() => save.mutate({ body: { name: name.trim(), sql } })}
        >
          Save
        </button>
        {saved === undefined ? null : (
          <Confirm
            action="Delete"
            kind="danger"
            disabled={refusal !== undefined}
            reason={refusal}
            title={`Delete the saved query ${saved.name}?`}
            run={() => remove.mutateAsync({ body: { id: saved.id } })}
          >
            <p>It is removed from the list for everybody. Its text stays in the editor.</p>
          </Confirm>
        )}
      </Filters>
      {save.isError ? <Failure error={save.error} /> : null}
    </>
  );
}
