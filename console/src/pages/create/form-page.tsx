/** A page with one form. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { AnswerOf } from '../../api/client.ts';
import type { ChangeKey } from '../../api/resources.ts';
import type { Values } from '../../forms/field.ts';
import { Form } from '../../forms/form.tsx';
import { CopyId } from '../../parts/figures.tsx';
import { Page, Section } from '../../parts/page.tsx';
import type { FormSpec } from './forms.ts';

/** The search of the address: ids that are known already, by their place in the body. */
export type Known = Readonly<Record<string, string | undefined>>;

export interface FormPageProps<Key extends ChangeKey> {
  readonly form: FormSpec<Key>;
  readonly known: Known;
  /** The values of the object that is changed. */
  readonly start?: Values;
  /** The version of that object. */
  readonly version?: string | undefined;
  /** Where the page goes with the answer. */
  leave?(navigate: ReturnType<typeof useNavigate>, answer: AnswerOf<Key>): void;
  /** The content that is shown once instead. */
  shown?(answer: AnswerOf<Key>): ReactNode;
}

export function FormPage<Key extends ChangeKey>(props: FormPageProps<Key>) {
  const { form, known } = props;
  const { operation, title, fields, next } = form;
  const navigate = useNavigate();
  const [answer, setAnswer] = useState<AnswerOf<Key> | null>(null);
  const done = (created: AnswerOf<Key>) => {
    if (props.shown === undefined) props.leave?.(navigate, created);
    else setAnswer(created);
  };
  return (
    <Page title={title}>
      <Section title={answer === null ? 'Details' : 'Created'}>
        {answer === null ? (
          <Form
            operation={operation}
            name={[title, ...Object.values(known)].join(' ')}
            fields={fields}
            {...(next === undefined ? {} : { next })}
            showsCosts={form.showsCosts ?? false}
            action={form.action ?? title}
            known={{ ...props.start, ...(known as Values) }}
            version={props.version}
            done={done}
          />
        ) : (
          props.shown?.(answer)
        )}
      </Section>
    </Page>
  );
}

/** A secret that is shown only now. */
export function Once({ name, secret }: { readonly name: string; readonly secret: string }) {
  return (
    <>
      <p>This is the only time that the {name} is shown. Copy it to the program that uses it.</p>
      <p>
        <CopyId id={secret} whole />
      </p>
    </>
  );
}
