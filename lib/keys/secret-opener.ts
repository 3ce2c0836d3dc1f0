/** Tells which sealed rows a text of `secrets.key` opens. Gives nobody what is in them. */
import { KEY_FILES } from '../base/key-files.ts';
import { sealerOf, secretsKeyOf } from '../base/sealed-secrets.ts';
import type { SealedRows } from '../registry/driver.ts';
import { SECRET_PURPOSE, secretOwner } from '../secrets/secrets.ts';

interface SecretOpener {
  opensSecret(row: SealedRows['secrets'][number]): boolean;
  opensWebhook(row: Pick<SealedRows['webhooks'][number], 'id' | 'secret'>): boolean;
}

/** One that tries the keys in all `texts`. Throws when one holds no key. */
export function secretOpener(texts: readonly string[]): SecretOpener {
  const roots = texts.map((text) => secretsKeyOf(text, KEY_FILES.secrets));
  const ofGuests = roots.map((root) => sealerOf(root, SECRET_PURPOSE));
  const ofWebhooks = roots.map((root) => sealerOf(root));
  return {
    opensSecret: (row) => ofGuests.some((sealer) => sealer.open(row.sealed, secretOwner(row)) !== null),
    opensWebhook: ({ id, secret }) => ofWebhooks.some((sealer) => sealer.open(secret, id) !== null),
  };
}
