/** All fields of one ledger line, in a disclosure below its sentence. Each field links to the lines that share it. */
import Link from 'next/link';
import type { ReactNode } from 'react';
import { type ActorNames, mentionsInWords, nameOfActor } from '#components/ledger/event-words.ts';
import type { Event } from '#lib/contract/schema.ts';
import { addressWith } from '../search-params.ts';
import type { AuditFilter } from './query.ts';

function Fact({ name, wide = false, children }: { name: string; wide?: boolean; children: ReactNode }) {
  return (
    <div className={`flex gap-3 ${wide ? 'lg:col-span-2' : ''}`}>
      <dt className="w-20 flex-none text-ink-3">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

/** `says`: the text of the link, where it is not the value. */
function Same({ filter, value, says = value }: { filter: AuditFilter; value: string; says?: string }) {
  return (
    <Link
      href={addressWith('/audit', { [filter]: value })}
      prefetch={false}
      className="inline-block font-mono text-[0.75rem]"
    >
      {says}
    </Link>
  );
}

/** `names`: what to call who acted. */
export function EventDetails({ event, names }: { event: Event; names: ActorNames }) {
  const { seq, time_ms, type, actor, via, tenant, instance, trigger, request_id, address, reason } = event;
  return (
    <details className="unfold group text-small">
      <summary className="w-fit py-1 whitespace-nowrap text-ink-3 hover:text-ink">
        <span className="inline-block w-3 group-open:rotate-90" aria-hidden="true">
          ›
        </span>
        line {seq.toLocaleString('en')}
      </summary>
      <dl className="mt-1.5 mb-1 ml-3 grid gap-x-8 border-l leading-6 border-rule-2 pl-3 lg:grid-cols-2">
        <Fact name="When">
          <code className="text-[0.75rem]">{new Date(time_ms).toISOString()}</code>
        </Fact>
        <Fact name="Who">
          <Same
            filter="actor"
            value={actor}
            // An id of a person says nothing to anybody.
            says={actor.startsWith('user:') ? nameOfActor(actor, names, event.actor_name) : actor}
          />{' '}
          <span className="text-ink-3">by {via}</span>
        </Fact>
        <Fact name="What">
          <Same filter="type" value={type} />
        </Fact>
        <Fact name="Trigger">
          <Same filter="trigger" value={trigger} />
        </Fact>
        {tenant !== null && (
          <Fact name="Tenant">
            <Same filter="tenant" value={tenant} />
          </Fact>
        )}
        {instance !== null && (
          <Fact name="Sandbox">
            <Same filter="instance" value={instance} />
          </Fact>
        )}
        {reason !== null && (
          <Fact name="Reason" wide>
            {mentionsInWords(reason, event, names)}
          </Fact>
        )}
        {address !== null && (
          <Fact name="From">
            <code className="text-[0.75rem]">{address}</code>
          </Fact>
        )}
        {request_id !== null && (
          <Fact name="Request">
            <Same filter="request_id" value={request_id} />
          </Fact>
        )}
      </dl>
    </details>
  );
}
