/** The rows of the audit log for what jobs, evaluations, commands and starts change. */
import { eq, like } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { tokenCommand } from '../../src/app/commands/token-command.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { auditLog } from '../../src/store/access/audit-log.tables.ts';
import { recordSystemChanges } from '../../src/store/access/system-changes.ts';
import { createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createThresholdCatalogue, createThresholdCustomer, topUp } from '../support/thresholds.ts';

const NOW = '2026-11-10T12:30:00Z';
const service = await serviceForFile({ sandboxNow: NOW, paymentProvider: 'simulated' });
const { api, db } = service;
const catalogue = await createThresholdCatalogue(api);

async function actionsOf(actorId: string): Promise<string[]> {
  const rows = await db.select().from(auditLog).where(eq(auditLog.actorId, actorId));
  return rows.map(({ action, resourceType, status }) => `${action} ${resourceType} ${status}`).toSorted();
}

describe('the audit log', () => {
  it('the audit log has what jobs and evaluations do: charges, grants, invoices and their numbers', async () => {
    const fee = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
    const customer = await createThresholdCustomer(api, catalogue, {
      prepaid_balance_threshold_configuration: topUp(catalogue, {}),
      recurring_credits: [
        {
          product_id: fee,
          access_amount: { unit_price: 31, quantity: 1, credit_type_id: USD_CENTS.id },
          commit_duration: { value: 1 },
          priority: 1,
          starting_at: '2026-11-01T00:00:00Z',
        },
      ],
    });
    await expect.poll(customer.invoices).toContain('SCHEDULED FINALIZED 4969');
    await service.moveClock('2026-12-02T12:00:00Z');
    expect(await actionsOf('evaluation:thresholds')).toContain('chargeThreshold contract success');
    expect(new Set(await actionsOf('job:issue_scheduled_invoice'))).toEqual(
      new Set(['issueInvoice invoice success']),
    );
    expect(await actionsOf('job:finalize_usage_invoice')).toEqual(['issueInvoice invoice success']);
    expect(await actionsOf('job:create_recurring_commits')).toContain('createCredit credit success');
    const isNumberedOnce = async () => {
      const kinds = ['issue_scheduled_invoice', 'finalize_usage_invoice'];
      const issued = (await Promise.all(kinds.map((kind) => actionsOf(`job:${kind}`)))).flat();
      return (await actionsOf('job:number_invoices')).length === issued.length && issued.length > 1;
    };
    await expect.poll(isNumberedOnce).toBe(true);
    const [row] = await db.select().from(auditLog).where(eq(auditLog.actorId, 'job:finalize_usage_invoice'));
    const query = { resource_type: 'invoice', resource_id: row?.resourceId ?? '' };
    const shown = async () => {
      const rows = await api.get('/v1/auditLogs', { query });
      return rows.list('data').map((_, index) => rows.text(`data[${index}].actor.name`));
    };
    await expect.poll(shown).toEqual(['job finalize_usage_invoice', 'job number_invoices']);
  });

  it('the audit log has what the command changes about tokens, and what it did not change is not in it', async () => {
    const printed = await tokenCommand(
      { kind: 'create', name: 'ci', scope: 'read', expiresAt: null, json: false },
      service.connection,
    );
    const listed = await tokenCommand({ kind: 'list', json: false }, service.connection);
    const id = /^(\S+) .*"ci"$/m.exec(listed)?.[1] ?? '';
    await tokenCommand({ kind: 'rotate', id, expiresAt: undefined, json: false }, service.connection);
    const unknown = tokenCommand({ kind: 'revoke', id: 'nobody', json: false }, service.connection);
    await expect(unknown).rejects.toThrow(/not found|nobody/);
    expect(await actionsOf('command:token')).toEqual([
      'createToken token success',
      'rotateToken token success',
    ]);
    const rows = await db.select().from(auditLog).where(eq(auditLog.actorId, 'command:token'));
    expect(rows.map(({ resourceId }) => resourceId)).toEqual([id, id]);
    expect(JSON.stringify(rows)).not.toContain(printed.split(' ').at(-1));
  });

  it('the audit log has the token that a start takes up, once however often the service starts', async () => {
    await service.restart();
    expect(await actionsOf('start:tallyhouse')).toEqual(['createToken token success']);
  });

  it('the audit log has no row of a change that is undone', async () => {
    const change = { action: 'x', resourceType: 'y', resourceId: 'undone', description: 'z' };
    const undone = db.transaction(async (tx) => {
      await recordSystemChanges(tx, { kind: 'job', name: 'undone' }, 0, [change]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await db.select().from(auditLog).where(like(auditLog.actorId, '%undone%'))).toEqual([]);
  });

  it('the audit log has the failure of a request whose id cannot be stored as text', async () => {
    const headers = { 'x-request-id': 'odd-id' };
    expect((await api.send('POST', '/v1/customers/%00/setName', { name: 'x' }, { headers })).status).toBe(
      404,
    );
    const rows = await db.select().from(auditLog).where(eq(auditLog.requestId, 'odd-id'));
    expect(rows).toMatchObject([{ resourceId: null, status: 'failure' }]);
  });
});
