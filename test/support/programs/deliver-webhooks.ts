/** Sends the webhooks of the database of its argument, until it is killed. */
import { createDeliverer } from '../../../src/notifications/webhooks/deliverer.ts';
import { createDatabase } from '../../../src/store/base/database.ts';
import { jobsContext } from '../billing-context.ts';

const [connection = ''] = process.argv.slice(2);
const { db } = createDatabase(JSON.parse(connection));
createDeliverer(jobsContext({ db })).start();
// Keeps the process alive.
setInterval(() => undefined, 3_600_000);
