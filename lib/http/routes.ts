/**
 * The contract as one table: every path and method there is. The dispatcher, the OpenAPI document and the Next route
 * files are made from it, so a route cannot exist outside the document.
 */

import type { Route } from './route.ts';
import { accessRoutes } from './routes/access.ts';
import { bundleRoutes } from './routes/bundles.ts';
import { copyRoutes } from './routes/copies.ts';
import { eventRoutes } from './routes/events.ts';
import { instanceRoutes } from './routes/instances.ts';
import { jobRoutes } from './routes/jobs.ts';
import { ledgerRoutes } from './routes/ledger.ts';
import { repairRoutes } from './routes/repairs.ts';
import { runRoutes } from './routes/runs.ts';
import { storageRoutes } from './routes/storage.ts';
import { systemRoutes } from './routes/system.ts';
import { tenantRoutes } from './routes/tenants.ts';
import { volumeRoutes } from './routes/volumes.ts';

export const ROUTES: readonly Route[] = [
  ...instanceRoutes,
  ...runRoutes,
  ...volumeRoutes,
  ...copyRoutes,
  ...bundleRoutes,
  ...repairRoutes,
  ...jobRoutes,
  ...tenantRoutes,
  ...eventRoutes,
  ...ledgerRoutes,
  ...accessRoutes,
  ...storageRoutes,
  ...systemRoutes,
];
