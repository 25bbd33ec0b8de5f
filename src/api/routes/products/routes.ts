/** Products: the items that invoices bill. Prices are on rate cards and contracts. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import type { WithCustomFields } from '../../../billing/custom-fields/with-fields.ts';
import {
  archiveProduct,
  createProduct,
  getProduct,
  listProducts,
  updateProduct,
} from '../../../billing/products/products.ts';
import type { ProductType } from '../../../core/catalogue.ts';
import { assert, invalid } from '../../../core/errors.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import type { StoredProduct } from '../../../store/products/products.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { createdId, enumIn, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import {
  changesFromWire,
  createProductBody,
  productSchema,
  termsFromWire,
  updateProductBody,
  updateToWire,
  versionToWire,
} from './schemas.ts';

const ARCHIVE_FILTERS = ['ARCHIVED', 'NOT_ARCHIVED', 'ALL'] as const;

const common = { method: 'post', tags: ['Products'] } as const;

export function productRoutes(context: RowContext): RouteDefinition[] {
  return [
    createRoute(context),
    getRoute(context),
    listRoute(context),
    updateRoute(context),
    archiveRoute(context),
  ];
}

function createRoute(context: RowContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contract-pricing/products/create',
    operationId: 'createProduct',
    summary: 'Create a product',
    description: 'The type can never change. A USAGE product meters with one billable metric.',
    scope: 'write',
    body: createProductBody,
    response: createdId,
    errors: [400, 409],
    async handler({ body, actor }) {
      if (body.composite_scope != null && body.type !== 'COMPOSITE') {
        throw invalid(['compositeScope'], `is for COMPOSITE products, not for ${body.type}`);
      }
      const { id } = await createProduct(context, {
        type: body.type === 'PRO_SERVICE' ? 'PROFESSIONAL_SERVICE' : body.type,
        terms: termsFromWire(body),
        customFields: body.custom_fields ?? {},
        createdBy: actor.name,
      });
      return { data: { id } };
    },
  });
}

function getRoute(context: RowContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contract-pricing/products/get',
    operationId: 'getProduct',
    summary: 'Get a product with its history',
    scope: 'read',
    body: z.object({ id: uuid }),
    response: z.object({ data: productSchema }),
    errors: [400, 404],
    async handler({ body }) {
      return { data: toWire(await getProduct(context, body.id), context.clock.now()) };
    },
  });
}

function listRoute(context: RowContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contract-pricing/products/list',
    operationId: 'listProducts',
    summary: 'List products',
    scope: 'read',
    query: pageQuery(keysetPosition),
    body: z.object({
      archive_filter: enumIn(ARCHIVE_FILTERS).optional().meta({ description: 'Default: NOT_ARCHIVED.' }),
    }),
    response: pageOf(productSchema),
    errors: [400],
    async handler({ query, body }) {
      const now = context.clock.now();
      const page = await listProducts(context, body.archive_filter ?? 'NOT_ARCHIVED', pageRequest(query));
      return pageToWire(page, (product) => toWire(product, now));
    },
  });
}

function updateRoute(context: RowContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contract-pricing/products/update',
    operationId: 'updateProduct',
    summary: 'Change a product from an instant on',
    description: 'Past changes act on drafts; invoices that were issued stay as they are.',
    scope: 'write',
    body: updateProductBody,
    response: createdId,
    errors: [400, 404],
    async handler({ body, actor }) {
      await updateProduct(context, {
        productId: body.product_id,
        startingAt: body.starting_at,
        changes: changesFromWire(body),
        createdBy: actor.name,
      });
      return { data: { id: body.product_id } };
    },
  });
}

function archiveRoute(context: RowContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contract-pricing/products/archive',
    operationId: 'archiveProduct',
    summary: 'Archive a product for good',
    description: 'Rate cards with the product continue. No new rates can be added for it.',
    scope: 'write',
    body: z.object({ product_id: uuid }),
    response: createdId,
    errors: [400, 404],
    async handler({ body }) {
      await archiveProduct(context, body.product_id);
      return { data: { id: body.product_id } };
    },
  });
}

function toWire(from: WithCustomFields<StoredProduct>, now: Instant): z.input<typeof productSchema> {
  const [initial] = from.versions;
  assert(initial !== undefined, `product ${from.id} has an initial version`);
  const current = from.versions.findLast(({ startingAt }) => startingAt === null || startingAt <= now);
  return {
    id: from.id,
    type: typeToWire(from.type),
    archived_at: from.archivedAt === null ? null : formatInstant(from.archivedAt),
    initial: versionToWire(initial, from.type),
    current: versionToWire(current ?? initial, from.type),
    updates: from.updates.map(updateToWire),
    custom_fields: { ...from.customFields },
  };
}

function typeToWire(type: ProductType) {
  return type === 'PROFESSIONAL_SERVICE' ? 'PRO_SERVICE' : type;
}
