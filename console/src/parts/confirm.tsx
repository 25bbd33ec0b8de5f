/** Describes an action and runs it after confirmation. The browser's own dialog keeps focus and keyboard in it. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import styles from './dialog.module.css';
import { Failure } from './states.tsx';

interface ConfirmProps {
  /** The label of the button that opens it, and of the one that confirms. */
  readonly action: string;
  readonly title: string;
  readonly kind?: 'main' | 'danger';
  readonly disabled?: boolean;
  /** Why it cannot be done. */
  readonly reason?: string | undefined;
  /** The effect of the action. */
  readonly children: ReactNode;
  run(): Promise<unknown>;
}

export function Confirm(props: ConfirmProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" disabled={props.disabled} title={props.reason} onClick={() => setOpen(true)}>
        {props.action}
      </button>
      {isOpen ? <ConfirmDialog {...props} close={() => setOpen(false)} /> : null}
    </>
  );
}

function ConfirmDialog(props: ConfirmProps & { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [state, setState] = useState<'idle' | 'running' | { readonly error: unknown }>('idle');
  const titleId = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const run = async () => {
    setState('running');
    try {
      await props.run();
      props.close();
    } catch (error) {
      setState({ error });
    }
  };
  return (
    <dialog ref={dialog} className={styles.dialog} aria-labelledby={titleId} onClose={props.close}>
      <div className={styles.content}>
        <h2 id={titleId}>{props.title}</h2>
        {props.children}
        {typeof state === 'object' ? <Failure error={state.error} /> : null}
        <div className={styles.buttons}>
          <button type="button" onClick={props.close}>
            Cancel
          </button>
          <button
            type="button"
            data-kind={props.kind ?? 'main'}
            disabled={state === 'running'}
            onClick={() => void run()}
          >
            {props.action}
          </button>
        </div>
      </div>
    </dialog>
  );
}
