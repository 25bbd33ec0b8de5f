/** A field for SQL. The editor is a separate chunk; until it is loaded, a plain field accepts the text. */
import { lazy, Suspense } from 'react';
import type { SqlEditorProps } from './editor-props.ts';
import styles from './sql-editor.module.css';

const Editor = lazy(() => import('./editor.tsx'));

export function SqlEditor(props: SqlEditorProps) {
  return (
    <div className={styles.editor}>
      <Suspense
        fallback={
          <textarea
            aria-label={props.label}
            rows={8}
            value={props.value}
            onChange={({ target }) => props.onChange(target.value)}
          />
        }
      >
        <Editor {...props} />
      </Suspense>
    </div>
  );
}
