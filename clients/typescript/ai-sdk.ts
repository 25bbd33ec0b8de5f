/**
 * Holds around every call of a language model of the Vercel AI SDK: before the call the customer's balance must cover its
 * largest cost, afterwards the event has the tokens that were used.
 *
 *   const model = wrapLanguageModel({ model: provider('large'), middleware: holdsFor(holds, { customer_id }) });
 */
import type { LanguageModelMiddleware } from 'ai';
import type { Holds, Permission, PlannedEvent, Properties } from './holds.ts';

type Call = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0];
type Usage = Awaited<ReturnType<Call['doGenerate']>>['usage'];
type Part =
  Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>>['stream'] extends ReadableStream<
    infer Each
  >
    ? Each
    : never;

export interface HeldModel {
  readonly customer_id: string;
  /** Of the events; `llm_call` unless given. */
  readonly event_type?: string;
  /** The properties that carry the tokens; `input_tokens` and `output_tokens` unless given. */
  readonly tokens?: { readonly input?: string; readonly output?: string };
  /** Output tokens of a call that names no limit; 4,096 unless given. */
  readonly outputTokensMax?: number;
}

export function holdsFor(holds: Holds, held: HeldModel): LanguageModelMiddleware {
  return {
    specificationVersion: 'v3',
    wrapGenerate: async ({ doGenerate, params, model }) =>
      await holds.hold(planned(held, params, model.modelId), async () => {
        const result = await doGenerate();
        return { result, properties: tokensOf(held, result.usage) };
      }),
    wrapStream: async ({ doStream, params, model }) => {
      const permission = await holds.reserve(planned(held, params, model.modelId));
      try {
        const answer = await doStream();
        return { ...answer, stream: settled(held, answer.stream, permission) };
      } catch (error) {
        await permission.release();
        throw error;
      }
    },
  };
}

/** The same parts; when they have ended, or the reader has gone, the hold is settled. */
function settled(held: HeldModel, parts: ReadableStream<Part>, permission: Permission): ReadableStream<Part> {
  const reader = parts.getReader();
  // Until the model says what was used, it is the largest quantity: that of the hold.
  let used: Properties = {};
  return new ReadableStream<Part>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) {
        await permission.settle(used);
        controller.close();
        return;
      }
      if (value.type === 'finish') used = tokensOf(held, value.usage);
      controller.enqueue(value);
    },
    async cancel(reason) {
      await reader.cancel(reason);
      await permission.settle(used);
    },
  });
}

function planned(held: HeldModel, params: Call['params'], model: string): PlannedEvent {
  const { customer_id, event_type = 'llm_call', outputTokensMax = 4096 } = held;
  return {
    customer_id,
    transaction_id: globalThis.crypto.randomUUID(),
    event_type,
    properties: {
      model,
      // A token is at least one byte of the prompt.
      [held.tokens?.input ?? 'input_tokens']: new TextEncoder().encode(JSON.stringify(params.prompt)).length,
      [held.tokens?.output ?? 'output_tokens']: params.maxOutputTokens ?? outputTokensMax,
    },
  };
}

function tokensOf({ tokens = {} }: HeldModel, { inputTokens, outputTokens }: Usage): Properties {
  return {
    ...(inputTokens.total === undefined ? {} : { [tokens.input ?? 'input_tokens']: inputTokens.total }),
    ...(outputTokens.total === undefined ? {} : { [tokens.output ?? 'output_tokens']: outputTokens.total }),
  };
}
