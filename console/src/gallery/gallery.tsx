/** Every part in the states that it can be in. A new part, or a new state of one, gets its place here. */
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import { Confirm } from '../parts/confirm.tsx';
import {
  Ago,
  CopyId,
  Day,
  Difference,
  LineAmount,
  Money,
  Price,
  Quantity,
  Status,
  Time,
} from '../parts/figures.tsx';
import { Fact, Facts, Field, Filters, Page, Section, Switch, Tabs } from '../parts/page.tsx';
import { Pager } from '../parts/pager.tsx';
import { Empty, Failure, Loading, Note, Problem, Progress } from '../parts/states.tsx';
import { Charts } from './charts.tsx';
import { FormFields } from './form-fields.tsx';
import styles from './gallery.module.css';
import { exact, USD } from './samples.ts';
import { Tables } from './tables.tsx';

const INSTANT = '2026-11-26T09:30:00Z';
const ID = '0f7d3c1e-6a52-4d2b-9d3f-5a1b2c3d4e5f';

export function Gallery() {
  return (
    <main className={styles.schemes}>
      {(['light', 'dark'] as const).map((scheme) => (
        <section key={scheme} className={styles.scheme} style={{ colorScheme: scheme }} aria-label={scheme}>
          <Parts scheme={scheme} />
        </section>
      ))}
    </main>
  );
}

function Parts({ scheme }: { readonly scheme: string }) {
  return (
    <Page
      title={`Parts, ${scheme}`}
      about="What stands below the heading"
      actions={<button type="button">An action</button>}
    >
      <Tabs
        label={`Views, ${scheme}`}
        views={[
          ['one', 'Overview'],
          ['two', 'Usage'],
        ]}
        current="one"
      />
      <Controls />
      <Figures />
      <States />
      <FormFields />
      <Tables />
      <Charts />
    </Page>
  );
}

function Row({ children }: { readonly children: ReactNode }) {
  return <div className={styles.row}>{children}</div>;
}

function Controls() {
  return (
    <Section title="Buttons and fields">
      <Row>
        <button type="button" data-kind="main">
          Main
        </button>
        <button type="button">Other</button>
        <button type="button" data-kind="danger">
          Danger
        </button>
        <button type="button" data-kind="plain">
          Plain
        </button>
        <button type="button" data-kind="main" disabled>
          Main
        </button>
        <button type="button" disabled>
          Disabled
        </button>
        <Confirm action="Void" title="Void INV-1?" kind="danger" run={refuse}>
          <p>The invoice keeps its lines and number but no longer bills anything.</p>
        </Confirm>
      </Row>
      <Filters>
        <Field label="Text">
          <input placeholder="example" />
        </Field>
        <Field label="Choice">
          <select>
            <option>day</option>
          </select>
        </Field>
        <Field label="Day">
          <input type="date" defaultValue="2026-11-26" />
        </Field>
        <Switch
          label="Chart"
          views={[
            ['day', 'By day'],
            ['cumulative', 'Cumulative'],
          ]}
          current="day"
          onChoose={() => {}}
        />
      </Filters>
      <Pager list="gallery" search={{ page: '2', cursor: 'b' }} next="c" />
    </Section>
  );
}

/** A confirmed action that the service refuses. */
async function refuse(): Promise<void> {
  await Promise.reject(new ApiError(409, 'The invoice is being delivered', null));
}

function Figures() {
  return (
    <Section title="Figures" aside={<a href="#figures">An aside</a>}>
      <Facts>
        <Fact label="Revenue" note="+12 % against October">
          <Money amount={exact('1234567.89')} unit={USD} />
        </Fact>
        <Fact label="Events" note="one has no customer">
          <Quantity value={exact('19283746')} />
        </Fact>
        <Fact label="Nothing">–</Fact>
      </Facts>
      <Row>
        <Price amount={exact('0.000125')} unit={USD} />
        <LineAmount amount={exact('12.5')} price={exact('0.00125')} unit={USD} />
        <Difference amount={exact('-450')} unit={USD} />
        <Difference amount={exact('0')} unit={USD} />
        <Day at={INSTANT} />
        <Time at={INSTANT} />
        <Ago at={INSTANT} offsetMs={0} />
        <CopyId id={ID} />
      </Row>
      <Row>
        {['DRAFT', 'FINALIZED', 'VOID', 'in_alarm'].map((state) => (
          <Status key={state} state={state} />
        ))}
        <Status state="due soon" tone="warn" />
      </Row>
    </Section>
  );
}

function States() {
  return (
    <Section title="States">
      <Empty action={<button type="button">Create customer</button>}>There is no customer yet.</Empty>
      <Note>Two events came after the invoice of their month.</Note>
      <Failure error={new ApiError(503, 'ClickHouse does not answer', null)} again={() => {}} />
      <Failure error="This token may only send events." />
      <Problem text="The name must not be empty" />
      <Loading what="invoices" />
      <Progress label="Reading, 400 invoices" done={400} />
      <Progress label="400 of 1,000 invoices" done={400} of={1_000} />
    </Section>
  );
}
