/** The editor itself: CodeMirror with SQL, only in this chunk. */
import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { StandardSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension, Prec } from '@codemirror/state';
import { EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { completionOf } from './completion.ts';
import type { SqlEditorProps } from './editor-props.ts';
import type { SqlPlace } from './sql-place.ts';

export default function Editor(props: SqlEditorProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    if (holder.current === null) return;
    const made = new EditorView({ parent: holder.current, state: stateFor(() => latest.current) });
    view.current = made;
    return () => made.destroy();
  }, []);
  const { value, problem } = props;
  useEffect(() => {
    const shown = view.current?.state.doc;
    if (shown === undefined || shown.toString() === value) return;
    view.current?.dispatch({ changes: { from: 0, to: shown.length, insert: value } });
  }, [value]);
  useEffect(() => {
    if (view.current !== null) markProblem(view.current, problem ?? null);
  }, [problem]);
  return <div ref={holder} />;
}

function stateFor(props: () => SqlEditorProps): EditorState {
  return EditorState.create({
    doc: props().value,
    extensions: [
      EditorView.cspNonce.of(nonceOfPage()),
      EditorView.contentAttributes.of({ 'aria-label': props().label }),
      Prec.highest(
        keymap.of([
          {
            key: 'Mod-Enter',
            run: () => {
              props().onRun();
              return true;
            },
          },
        ]),
      ),
      keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
      history(),
      lineNumbers(),
      bracketMatching(),
      closeBrackets(),
      EditorView.lineWrapping,
      placeholder('SELECT …'),
      sql({ dialect: StandardSQL, upperCaseKeywords: true }),
      StandardSQL.language.data.of({ autocomplete: completionOf(() => props().names) }),
      autocompletion({ icons: false }),
      look,
      EditorView.updateListener.of((update) => {
        if (update.docChanged) props().onChange(update.state.doc.toString());
      }),
    ],
  });
}

/** The page's content security policy requires a nonce for style sheets. */
function nonceOfPage(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}

/** Underlines the word at the place, and shows the message there. */
function markProblem(view: EditorView, problem: SqlPlace | null): void {
  const { doc } = view.state;
  if (problem === null || problem.line > doc.lines) {
    view.dispatch(setDiagnostics(view.state, []));
    return;
  }
  const line = doc.line(problem.line);
  const from = Math.min(line.from + problem.column - 1, line.to);
  const word = /^[\w.$]+|^./.exec(line.text.slice(from - line.from))?.[0] ?? '';
  const to = Math.max(from, from + word.length);
  view.dispatch(setDiagnostics(view.state, [{ from, to, severity: 'error', message: problem.message }]));
}

const look: Extension = [
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--accent)' },
      { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
      { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
      { tag: [tags.comment], color: 'var(--soft)', fontStyle: 'italic' },
    ]),
  ),
  EditorView.theme({
    '&': {
      border: '1px solid var(--line-strong)',
      borderRadius: 'var(--radius)',
      background: 'var(--paper)',
      color: 'var(--ink)',
      fontSize: 'var(--small)',
    },
    '&.cm-focused': { outline: 'var(--focus)', outlineOffset: '-1px' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', minHeight: '150px', maxHeight: '46vh' },
    '.cm-content': { padding: 'var(--space-8) 0', caretColor: 'var(--ink)' },
    '.cm-cursor': { borderLeftColor: 'var(--ink)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-content ::selection': {
      background: 'var(--accent-ground)',
    },
    '.cm-gutters': { background: 'var(--raised)', color: 'var(--soft)', border: '0' },
    '.cm-placeholder': { color: 'var(--soft)' },
    '.cm-tooltip': {
      border: '1px solid var(--line-strong)',
      borderRadius: 'var(--radius)',
      background: 'var(--paper)',
      color: 'var(--ink)',
      overflow: 'hidden',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul': {
      fontFamily: 'var(--mono)',
      fontSize: 'var(--small)',
      maxHeight: '16em',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
      background: 'var(--accent-ground)',
      color: 'var(--ink)',
    },
    '.cm-completionDetail': { color: 'var(--soft)', fontStyle: 'normal', marginLeft: 'var(--space-16)' },
    '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)' },
    '.cm-completionInfo': {
      padding: 'var(--space-6) var(--space-12)',
      whiteSpace: 'pre-wrap',
      fontSize: 'var(--small)',
      maxWidth: '320px',
    },
    '.cm-diagnostic': { padding: 'var(--space-6) var(--space-12)', borderLeft: '3px solid var(--bad)' },
    '.cm-lintRange-error': {
      backgroundImage: 'none',
      textDecoration: 'underline wavy var(--bad)',
      textUnderlineOffset: '3px',
    },
    '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { background: 'var(--accent-ground)' },
  }),
];
