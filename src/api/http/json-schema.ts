import type { z } from 'zod';

/** A schema as the OpenAPI document has it. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;
