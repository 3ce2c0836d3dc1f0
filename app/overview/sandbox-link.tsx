/** A sandbox by its name, or by its id where it has none. */
import Link from 'next/link';
import type { Instance } from '#lib/api/schema.ts';

export function SandboxLink({ instance }: { instance: Pick<Instance, 'id' | 'name'> }) {
  return (
    <Link href={`/sandboxes/${instance.id}`} prefetch={false} className="[overflow-wrap:anywhere]">
      {instance.name ?? <code className="text-[0.8125rem]">{instance.id}</code>}
    </Link>
  );
}
