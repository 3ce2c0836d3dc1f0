'use server';
/** The server action of moments: brings a sandbox back from the replica, as itself or as a new one. */
import { refresh } from 'next/cache';
import { parseMoment } from '#components/ui/moments.ts';
import { exactMoment } from '#components/ui/zones.ts';
import { isInstanceId } from '#lib/base/ids.ts';
import { fromMomentSchema, restoreInstanceSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from './caller.ts';
import { expectTexts, textField } from './form-values.ts';
import type { MomentField, MomentState } from './moment-form.tsx';
import { invalidForm, refusedForm, trimmedFields } from './settings/form-parser.ts';
import { visitorZone } from './zone.ts';

const FIELDS: readonly MomentField[] = ['instance', 'time', 'name', 'reason'];

/** By the button that was pressed: `itself` replaces its file, `new` makes another sandbox. `bound`: its id, or ''. */
export async function bringBack(bound: string, _previous: MomentState, form: FormData): Promise<MomentState> {
  expectTexts(bound);
  const caller = await requireCaller(bound === '' ? '/settings/backups' : `/sandboxes/${bound}?tab=past`);
  const values = trimmedFields(form, FIELDS);
  const id = bound === '' ? values.instance : bound;
  const wrong = (errors: MomentState['errors']): MomentState => ({ values, errors, outcome: null, secret: null });
  if (!isInstanceId(id)) return wrong({ instance: 'name the sandbox' });
  const time = parseMoment(values.time, 'last') ?? Date.parse(values.time) / 1000;
  if (Number.isNaN(time)) return wrong({ time: 'is no time such as 2026-11-21T18:00:00Z' });
  const reason = values.reason === '' ? {} : { reason: values.reason };
  const done = (says: string): MomentState => ({
    values: { time: values.time },
    errors: {},
    outcome: { ok: true, says },
    secret: null,
  });
  try {
    const { operations } = getHost();
    if (textField(form, 'intent') === 'new') {
      const parsed = fromMomentSchema.safeParse({
        time,
        ...reason,
        ...(values.name === '' ? {} : { name: values.name }),
      });
      if (!parsed.success) return invalidForm(values, parsed.error, FIELDS);
      const made = await operations.instanceFromMoment(caller, id, parsed.data);
      refresh();
      return { ...done(`${made.name ?? made.id} is made, as ${id} was.`), made: made.id };
    }
    const parsed = restoreInstanceSchema.safeParse({ time, ...reason });
    if (!parsed.success) return invalidForm(values, parsed.error, FIELDS);
    const restored = await operations.restoreInstance(caller, id, parsed.data);
    refresh();
    if (!('used' in restored)) return done('It is restored.');
    const back =
      restored.undo === null
        ? 'What it had is kept aside on the server.'
        : `What it had is its moment “${restored.undo.moment}”.`;
    return done(`It is as of ${exactMoment(restored.used, await visitorZone())} now. ${back}`);
  } catch (error) {
    return refusedForm(values, error, caller, FIELDS);
  }
}
