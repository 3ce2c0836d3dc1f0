/** What needs a person: stuck operations and sandboxes with a fault, each with its safe way out. */

import Link from 'next/link';
import type { ReactNode } from 'react';
import { WithCall } from '#components/calls/with-call.tsx';
import { StateMark } from '#components/sandbox/state-mark.tsx';
import { FAULT_MEANS } from '#components/sandbox/state-words.ts';
import { RetryForm } from '#components/ui/retry-form.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { stuckInWords } from '#lib/contract/trouble-words.ts';
import { type Fault, isBlocking } from '#lib/lifecycle/words.ts';
import { retryWake } from '../retry.ts';
import { SandboxLink } from './sandbox-link.tsx';
import { SettleForms } from './settle-forms.tsx';

/** Aligned with the name, past the mark. */
const INDENT = 'ml-[1.375rem]';

function Name({ instance, children }: { instance: Instance; children: ReactNode }) {
  return (
    <p className="flex items-baseline gap-2">
      <StateMark state={instance.state} fault={instance.fault} size={14} className="translate-y-0.5 flex-none" />
      <span className="min-w-0">
        <SandboxLink instance={instance} /> <span className="text-small text-ink-2">{children}</span>
      </span>
    </p>
  );
}

function More({ shown, count, href }: { shown: number; count: number; href: string }) {
  if (count <= shown) return null;
  return (
    <p className="pt-2 text-small">
      <Link href={href} prefetch={false}>
        All {count.toLocaleString('en')} of them
      </Link>
    </p>
  );
}

/** `count`: how many there are. `stuck`: those shown. `rendered`: the server's time in epoch seconds. */
export function StuckOperations({
  stuck,
  count,
  caller,
  rendered,
}: {
  stuck: readonly Instance[];
  count: number;
  caller: Caller;
  rendered: number;
}) {
  return (
    <>
      <ul className="grid">
        {stuck.map((instance) => (
          <li key={instance.id} className="border-b border-rule py-2 last:border-0">
            <Name instance={instance}>{instance.state}</Name>
            <p className={`${INDENT} text-small text-ink-2`}>{stuckInWords(instance, rendered)}</p>
            <div className={`${INDENT} mt-1.5`}>
              <SettleForms instance={instance} caller={caller} />
            </div>
          </li>
        ))}
      </ul>
      <More shown={stuck.length} count={count} href="/sandboxes?pending=stuck" />
    </>
  );
}

/** The way out of a fault. An archived sandbox has it on its own page, which asks for a reason. */
function FaultWayOut({ instance, caller }: { instance: Instance; caller: Caller }) {
  if (!mayDo(caller, 'resume', { tenant: instance.tenant })) return null;
  if (instance.state === 'archived') {
    return (
      <Link href={`/sandboxes/${instance.id}#moves`} prefetch={false} className="text-small">
        Revive it with force
      </Link>
    );
  }
  return (
    <WithCall name="resumeInstance" path={{ id: instance.id }} body={{ force: true }}>
      <RetryForm
        label={isBlocking(instance.fault) ? 'Try again with force' : 'Wake it'}
        name={instance.name ?? instance.id}
        action={retryWake.bind(null, instance.id)}
      />
    </WithCall>
  );
}

/** `counts`: each present fault with how many have it. `faulty`: the sandboxes shown. */
export function Faults({
  counts,
  faulty,
  caller,
}: {
  counts: readonly [Fault, number][];
  faulty: readonly Instance[];
  caller: Caller;
}) {
  if (counts.length === 0) return <p className="text-ink-2">None. Every file is where its row says.</p>;
  return (
    <div className="grid gap-3">
      <p>
        {counts.map(([fault, count], index) => (
          <span key={fault}>
            {index > 0 && ', '}
            <Link href={`/sandboxes?fault=${fault}`} prefetch={false} title={FAULT_MEANS[fault]}>
              {count.toLocaleString('en')} {fault}
            </Link>
          </span>
        ))}
      </p>
      <ul className="grid">
        {faulty.map((instance) => (
          <li key={instance.id} className="border-b border-rule py-2 last:border-0">
            <Name instance={instance}>
              {instance.fault}, {instance.state}
            </Name>
            {instance.fault_reason !== null && (
              <p className={`${INDENT} text-small text-ink-2 [overflow-wrap:anywhere]`}>{instance.fault_reason}</p>
            )}
            <div className={`${INDENT} mt-1.5`}>
              <FaultWayOut instance={instance} caller={caller} />
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
