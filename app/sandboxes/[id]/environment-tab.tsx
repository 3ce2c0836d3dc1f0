/** The Environment tab: the variables that guests of the sandbox find, and the secrets that their requests carry. */
import type { Caller } from '#lib/auth/caller.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { SecretsSection } from '../../guests/secrets-section.tsx';
import { VariablesSection } from '../../guests/variables-section.tsx';

export function EnvironmentTab({
  caller,
  instance: { id, tenant },
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  rendered: number;
}) {
  const owner = { kind: 'sandbox', name: id } as const;
  return (
    <>
      <VariablesSection caller={caller} owner={owner} tenant={tenant} />
      <SecretsSection caller={caller} owner={owner} tenant={tenant} rendered={rendered} />
    </>
  );
}
