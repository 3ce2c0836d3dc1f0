/**
 * Seals again what an older key sealed: batch by batch, each one transaction, so that it may be broken off and
 * repeated.
 */
import { KEY_FILES, oldKeyFile } from '../base/key-files.ts';
import { type SecretSealer, sealerOf, secretsKeyOf } from '../base/sealed-secrets.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resealed } from '../registry/secrets.ts';
import type { WebhookSecrets } from '../registry/webhooks.ts';
import { SECRET_PURPOSE, secretOwner } from '../secrets/secrets.ts';

/** Rows sealed again in one transaction. */
const BATCH = 100;

/**
 * Seals everything again with the key in the text `text` that it does not open and the one in `before` does. Returns
 * how many rows that were, and the names of those that neither opens.
 */
export async function resealAll(
  { registry }: { registry: Pick<Registry, 'secrets' | 'webhooks'> },
  text: string,
  before: string,
): Promise<{ sealed: number; closed: string[] }> {
  const [own, old] = [secretsKeyOf(text, KEY_FILES.secrets), secretsKeyOf(before, oldKeyFile('secrets'))];
  const closed: string[] = [];
  let sealed = 0;

  const [guests, guestsBefore] = [sealerOf(own, SECRET_PURPOSE), sealerOf(old, SECRET_PURPOSE)];
  const rows = await registry.secrets.all();
  for (let at = 0; at < rows.length; at += BATCH) {
    const changes = rows.slice(at, at + BATCH).flatMap((row): Resealed[] => {
      const again = anew(row.sealed, secretOwner(row), guests, guestsBefore);
      if (again === undefined) closed.push(`${row.name} of ${row.instance || row.tenant}`);
      if (again === null || again === undefined) return [];
      return [{ tenant: row.tenant, instance: row.instance, name: row.name, from: row.sealed, sealed: again }];
    });
    if (changes.length > 0) sealed += await registry.secrets.reseal(changes);
  }

  const [hooks, hooksBefore] = [sealerOf(own), sealerOf(old)];
  const webhooks = await registry.webhooks.list();
  for (let at = 0; at < webhooks.length; at += BATCH) {
    const changes = webhooks.slice(at, at + BATCH).flatMap(({ id, name, secret, oldSecret }) => {
      const again = anew(secret, id, hooks, hooksBefore);
      const oldAgain = oldSecret === null ? null : anew(oldSecret, id, hooks, hooksBefore);
      if (again === undefined) closed.push(`the webhook ${name} (${id})`);
      if (typeof again !== 'string' && typeof oldAgain !== 'string') return [];
      const to: WebhookSecrets = { secret: again ?? secret, oldSecret: oldAgain ?? oldSecret };
      return [{ from: { id, secret, oldSecret }, to }];
    });
    if (changes.length > 0) sealed += await registry.webhooks.reseal(changes);
  }
  return { sealed, closed };
}

/** The text sealed with `own`; null when it is that already, undefined when neither opens it. */
function anew(sealed: string, owner: string, own: SecretSealer, before: SecretSealer): string | null | undefined {
  if (own.open(sealed, owner) !== null) return null;
  const secret = before.open(sealed, owner);
  return secret === null ? undefined : own.seal(secret, owner);
}
