/** Takes what is open back: it comes in the place of what is there now, and nothing else changes. */
import { WithCall } from '#components/calls/with-call.tsx';
import type { VolumeName } from '#components/files/file-address.ts';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { VOLUME_CONTRACTS } from '#lib/vfs/volumes.ts';
import { ConfirmButton } from '../../../settings/confirm-button.tsx';
import { wakeNote, whyUnusable } from '../use-refusals.ts';
import { takeEntryBack } from './move-actions.ts';

/** `path`: a folder's ends with a slash. `at`: of the moment, as `exactTime` writes it. */
export function TakeBack({
  caller,
  instance,
  volume,
  path,
  at,
}: {
  caller: Caller;
  instance: Instance;
  volume: VolumeName;
  path: string;
  at: string;
}) {
  const { id, tenant } = instance;
  const what = path.endsWith('/') ? 'folder' : 'file';
  const label = `Take this ${what} back`;
  const refusal =
    whyNot(caller, 'takeBack', { tenant, volume }) ??
    (VOLUME_CONTRACTS[volume].survivesResume
      ? null
      : `What was in ${volume} is gone at every wake: it is only shown.`) ??
    whyUnusable('write', instance);
  if (refusal !== null) return <DisabledAction id="take-back" label={label} whyNot={refusal} quiet />;
  const wakes = wakeNote('write', instance);
  return (
    <WithCall name="takeBack" path={{ id, volume }} body={{ path: path.replace(/\/$/, ''), time: Number(at) }}>
      <ConfirmButton
        key={`${volume}${path}${at}`}
        action={takeEntryBack.bind(null, id, volume, path, at)}
        button={`Put the ${what} of then in its place`}
        doing="Taking it back…"
        label={`/${volume}${path}`}
        ask={{
          open: label,
          says: `It comes in the place of what is at this path now; nothing else changes.${wakes === null ? '' : ` ${wakes}`}`,
        }}
      />
    </WithCall>
  );
}
