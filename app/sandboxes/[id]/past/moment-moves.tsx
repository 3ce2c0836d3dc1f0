/** What can be made of the moment that is open, or why not. */
import { WithCall } from '#components/calls/with-call.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { bringBack } from '../../../moment-actions.ts';
import { secondInWords } from './moment-words.ts';
import { nameMoment } from './move-actions.ts';
import { NameForm } from './name-form.tsx';
import { exactTime } from './past-address.ts';
import { NewFromHere, RestoreHere } from './past-moves.tsx';

export function MomentMoves({
  caller,
  instance,
  open,
  zone,
}: {
  caller: Caller;
  instance: Instance;
  open: number;
  zone: string;
}) {
  const { id, tenant, state } = instance;
  const time = new Date(open).toISOString();
  const noNew = whyNot(caller, 'instanceFromMoment', { tenant });
  const noRestore =
    whyNot(caller, 'restoreInstance', { tenant }) ??
    (state === 'active' ? 'It must be asleep to be restored: suspend it first.' : null);
  const noName = whyNot(caller, 'nameMoment', { tenant });
  return (
    <div className="mt-2 flex flex-wrap items-start gap-2">
      {noNew === null ? (
        <WithCall
          name="instanceFromMoment"
          path={{ id }}
          body={{ time: Number(exactTime(open)) }}
          fields={{ name: 'text', reason: 'text' }}
        >
          <NewFromHere action={bringBack.bind(null, id)} time={time} />
        </WithCall>
      ) : (
        <DisabledAction id="past-new" label="New sandbox from here" whyNot={noNew} quiet />
      )}
      {noRestore === null ? (
        <WithCall
          name="restoreInstance"
          path={{ id }}
          body={{ time: Number(exactTime(open)) }}
          fields={{ reason: 'text' }}
        >
          <RestoreHere action={bringBack.bind(null, id)} time={time} when={secondInWords(open, zone)} />
        </WithCall>
      ) : (
        <DisabledAction id="past-restore" label="Restore here" whyNot={noRestore} quiet />
      )}
      {noName === null ? (
        <WithCall
          name="nameMoment"
          path={{ id }}
          body={{ time: Number(exactTime(open)) }}
          fields={{ name: { to: 'name', in: 'path' } }}
        >
          <NameForm action={nameMoment.bind(null, id, exactTime(open))} />
        </WithCall>
      ) : (
        <DisabledAction id="past-keep" label="Name this moment" whyNot={noName} quiet />
      )}
    </div>
  );
}
