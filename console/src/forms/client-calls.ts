/** How the official client calls the operations of forms. It has no other ones; a test asks it. */
export const CLIENT_CALLS: Readonly<Record<string, string>> = {
  'POST /v1/alerts/create': 'client.v1.alerts.create',
  'POST /v1/contract-pricing/products/create': 'client.v1.contracts.products.create',
  'POST /v1/contract-pricing/products/update': 'client.v1.contracts.products.update',
  'POST /v1/contract-pricing/rate-cards/addRates': 'client.v1.contracts.rateCards.rates.addMany',
  'POST /v1/contract-pricing/rate-cards/create': 'client.v1.contracts.rateCards.create',
  'POST /v1/contracts/create': 'client.v1.contracts.create',
  'POST /v1/contracts/customerCredits/create': 'client.v1.customers.credits.create',
  'POST /v1/customFields/addKey': 'client.v1.customFields.addKey',
  'POST /v1/customers': 'client.v1.customers.create',
  'POST /v1/customers/{customer_id}/setIngestAliases': 'client.v1.customers.setIngestAliases',
  'POST /v1/customers/{customer_id}/setName': 'client.v1.customers.setName',
  'POST /v1/packages/create': 'client.v1.packages.create',
  'POST /v2/contracts/edit': 'client.v2.contracts.edit',
};
