/** The moments of a sandbox that have a name: links that open them, and what may be done with them. */
import Link from 'next/link';
import { WithCall } from '#components/calls/with-call.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { automaticKindOf } from '#lib/base/moment-names.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Instance, Moment } from '#lib/contract/schema.ts';
import { ConfirmButton } from '../../../settings/confirm-button.tsx';
import { secondInWords } from './moment-words.ts';
import { removeMoment, undoRestore } from './move-actions.ts';
import { exactTime, type PastView, pastAddress } from './past-address.ts';
import { UndoForm } from './undo-form.tsx';

/** Nothing where there are none. */
export function NamedMomentList({
  caller,
  instance: { id, tenant, state },
  view,
  named,
  zone,
}: {
  caller: Caller;
  instance: Instance;
  view: PastView;
  /** The newest first. */
  named: readonly Moment[];
  zone: string;
}) {
  if (named.length === 0) return null;
  const undone = named.find(({ name }) => automaticKindOf(name ?? '') === 'before-restore');
  const mayUndo = mayDo(caller, 'undoRestore', { tenant }) && state !== 'active';
  return (
    <section aria-labelledby="named-moments">
      <h3 id="named-moments" className="mb-1 text-small text-ink-3">
        With a name, kept until it is removed
      </h3>
      <ul>
        {named.map((moment) => {
          const name = moment.name ?? '';
          return (
            <li key={name} className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-rule py-1.5">
              <Link
                href={pastAddress(id, view, { at: exactTime(moment.time_ms) })}
                prefetch={false}
                scroll={false}
                className="min-w-0 [overflow-wrap:anywhere]"
              >
                {name}
              </Link>
              <span className="text-small text-ink-2">{secondInWords(moment.time_ms, zone)}</span>
              <span className="flex flex-wrap gap-2 sm:ml-auto">
                {moment === undone && mayUndo && (
                  <WithCall name="undoRestore" path={{ id }}>
                    <UndoForm sandbox={id} moment={name} action={undoRestore.bind(null, id)} />
                  </WithCall>
                )}
                {mayDo(caller, 'removeMoment', { tenant }) && (
                  <WithCall name="removeMoment" path={{ id, name }}>
                    <ConfirmButton
                      action={removeMoment.bind(null, id, name)}
                      button="Remove"
                      doing="Removing it…"
                      label={name}
                      row
                    />
                  </WithCall>
                )}
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
