/** Reads facts and what is encrypted in a registry file that another process may own. Opens nothing that is sealed. */
import { eq, placeholder } from '../../../db/drizzle.ts';
import { secrets, settings, webhooks } from '../../../db/schema.ts';
import type { RegistryMoment } from '../driver.ts';
import { FACT_PREFIX } from '../statements/facts.ts';
import type { RegistryFileReader } from './file-reader.ts';
import type { SyncMethods } from './to-async.ts';

export function sealedRows(file: RegistryFileReader): SyncMethods<Pick<RegistryMoment, 'fact' | 'sealed'>> {
  const fact = file.statement((queries) =>
    queries
      .select({ value: settings.value })
      .from(settings)
      .where(eq(settings.key, placeholder('key')))
      .prepare(),
  );
  const { tenant, instance, name, url, header, format, sealed } = secrets;
  const ofGuests = file.statement((queries) =>
    queries.select({ tenant, instance, name, url, header, format, sealed }).from(secrets).prepare(),
  );
  const ofWebhooks = file.statement((queries) =>
    queries.select({ id: webhooks.id, name: webhooks.name, secret: webhooks.secret }).from(webhooks).prepare(),
  );
  return {
    fact: (of) => (file.has(settings) ? (fact().get({ key: FACT_PREFIX + of })?.value ?? null) : null),
    sealed: () => ({
      secrets: file.has(secrets) ? ofGuests().all() : [],
      webhooks: file.has(webhooks) ? ofWebhooks().all() : [],
    }),
  };
}
