/** A sandbox by its name, or by its id where it has none. */
import Link from 'next/link';
import type { Instance } from '#lib/contract/schema.ts';

export function SandboxLink({ instance }: { instance: Pick<Instance, 'id' | 'name'> }) {
  return (
    <Link
      href={`/sandboxes/${instance.id}`}
      prefetch={false}
      className="[overflow-wrap:anywhere]"
      title={instance.name ?? undefined}
    >
      {instance.name === null ? <code className="text-[0.8125rem]">{instance.id}</code> : shortened(instance.name)}
    </Link>
  );
}

/** The longest name in a line of a short list, in characters. */
const LONGEST = 60;

function shortened(name: string): string {
  const signs = [...name];
  return signs.length <= LONGEST
    ? name
    : `${signs
        .slice(0, LONGEST - 1)
        .join('')
        .trimEnd()}…`;
}
