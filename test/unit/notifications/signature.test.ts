import Metronome from '@metronome/sdk';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { newSecret, signatureHeaders } from '../../../src/notifications/webhooks/signature.ts';

const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' };

it("the signer of webhooks signs so that the client's own helper accepts every body, and no other body", () => {
  const client = new Metronome({ bearerToken: 'unused' });
  fc.assert(
    fc.property(fc.json(), fc.uuid(), (body, id) => {
      const secret = newSecret();
      const headers = signatureHeaders([secret], { id, body }, Date.now());
      expect(client.webhooks.unwrap(body, headers, secret)).toEqual(JSON.parse(body));
      expect(() => client.webhooks.verifySignature(`${body} `, headers, secret)).toThrow();
      expect(() => client.webhooks.verifySignature(body, headers, newSecret())).toThrow();
    }),
  );
});

it('the signer of webhooks signs so that the library of Standard Webhooks accepts every body, and no other body, id or second', () => {
  fc.assert(
    fc.property(fc.json(), fc.uuid(), (body, id) => {
      const secret = newSecret();
      const now = Date.now();
      const headers = signatureHeaders([secret], { id, body }, now);
      const library = new Webhook(secret);
      expect(library.verify(body, headers)).toEqual(JSON.parse(body));
      expect(() => library.verify(`${body} `, headers)).toThrow();
      expect(() => library.verify(body, { ...headers, 'webhook-id': `${id}0` })).toThrow();
      const otherSecond = String(Math.floor(now / 1_000) - 1);
      expect(() => library.verify(body, { ...headers, 'webhook-timestamp': otherSecond })).toThrow();
      expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow();
    }),
  );
});

it('the signer of webhooks signs so that the library accepts the present secret and the former one after a rotation', () => {
  const [present, former] = [newSecret(), newSecret()];
  const headers = signatureHeaders([present, former], message, Date.now());
  for (const secret of [present, former]) {
    expect(new Webhook(secret).verify(message.body, headers)).toEqual(JSON.parse(message.body));
  }
});

it('the signer of webhooks signs as the published example of Standard Webhooks', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const headers = signatureHeaders([secret], message, 1_614_265_330_999);
  expect(headers['webhook-id']).toBe(message.id);
  expect(headers['webhook-timestamp']).toBe('1614265330');
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

it('the signer of webhooks signs with the secret before a rotation too, after the present one', () => {
  const [present, former] = [newSecret(), newSecret()];
  const single = (secret: string) => signatureHeaders([secret], message, 0)['webhook-signature'];
  expect(signatureHeaders([present, former], message, 0)['webhook-signature']).toBe(
    `${single(present)} ${single(former)}`,
  );
});

it('the signer of webhooks makes secrets of 256 random bits', () => {
  const secrets = Array.from({ length: 100 }, newSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
  }
});
