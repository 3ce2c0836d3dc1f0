/**
 * The contract as one table: every path and method there is. The dispatcher, the OpenAPI document and the Next route
 * files are made from it, so a route cannot exist outside the document.
 */

import type { Route } from './route.ts';
import { accessRoutes } from './routes/access.ts';
import { attentionRoutes } from './routes/attention.ts';
import { backupRoutes } from './routes/backups.ts';
import { bundleRoutes } from './routes/bundles.ts';
import { callRoutes } from './routes/calls.ts';
import { componentCallRoutes } from './routes/component-calls.ts';
import { copyRoutes } from './routes/copies.ts';
import { eventRoutes } from './routes/events.ts';
import { guestRoutes } from './routes/guests.ts';
import { hostRoutes } from './routes/hosts.ts';
import { instanceRoutes } from './routes/instances.ts';
import { jobRoutes } from './routes/jobs.ts';
import { ledgerRoutes } from './routes/ledger.ts';
import { loadRoutes } from './routes/load.ts';
import { logRoutes } from './routes/logs.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { networkRoutes } from './routes/network.ts';
import { repairRoutes } from './routes/repairs.ts';
import { runRoutes } from './routes/runs.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { storageRoutes } from './routes/storage.ts';
import { systemRoutes } from './routes/system.ts';
import { tenantRoutes } from './routes/tenants.ts';
import { terminalRoutes } from './routes/terminals.ts';
import { usageRoutes } from './routes/usage.ts';
import { volumeRoutes } from './routes/volumes.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { workbookRoutes } from './routes/workbooks.ts';

export const ROUTES: readonly Route[] = [
  ...instanceRoutes,
  ...callRoutes,
  ...runRoutes,
  ...logRoutes,
  ...terminalRoutes,
  ...volumeRoutes,
  ...copyRoutes,
  ...bundleRoutes,
  ...workbookRoutes,
  ...componentCallRoutes,
  ...repairRoutes,
  ...jobRoutes,
  ...scheduleRoutes,
  ...tenantRoutes,
  ...guestRoutes,
  ...usageRoutes,
  ...loadRoutes,
  ...eventRoutes,
  ...ledgerRoutes,
  ...accessRoutes,
  ...webhookRoutes,
  ...networkRoutes,
  ...mcpRoutes,
  ...storageRoutes,
  ...backupRoutes,
  ...attentionRoutes,
  ...hostRoutes,
  ...systemRoutes,
];
