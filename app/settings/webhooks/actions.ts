'use server';
/** Server actions that set up, change, try and remove webhooks. */
import { refresh } from 'next/cache';
import { redirect } from 'next/navigation';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { webhookInputSchema, webhookPatchSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectShape, expectTexts } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { invalidForm, refusedForm, trimmedFields } from '../form-parser.ts';
import type { FormState } from '../form-state.ts';
import { typesOf } from './webhook-words.ts';

export type WebhookField = 'name' | 'url' | 'types' | 'tenant';

const PATH = '/settings/webhooks';
const FIELDS: readonly WebhookField[] = ['name', 'url', 'types', 'tenant'];

/** Sets up a webhook. Its secret is shown only once. */
export async function createWebhook(
  _previous: FormState<WebhookField>,
  form: FormData,
): Promise<FormState<WebhookField>> {
  const caller = await requireCaller(PATH);
  const values = trimmedFields(form, FIELDS);
  const { name, url, types, tenant } = values;
  const parsed = webhookInputSchema.safeParse({ name, url, types: typesOf(types), tenant: tenant || undefined });
  if (!parsed.success) return invalidForm(values, parsed.error, FIELDS);
  try {
    const { secret } = await getHost().operations.createWebhook(caller, parsed.data);
    refresh();
    return { values: {}, errors: {}, outcome: null, secret };
  } catch (error) {
    return refusedForm(values, error, caller, FIELDS);
  }
}

/** Changes its name, its address and what it is told. */
export async function changeWebhook(
  id: string,
  _previous: FormState<WebhookField>,
  form: FormData,
): Promise<FormState<WebhookField>> {
  expectTexts(id);
  const caller = await requireCaller(`${PATH}/${id}`);
  const values = trimmedFields(form, FIELDS);
  const parsed = webhookPatchSchema.safeParse({ name: values.name, url: values.url, types: typesOf(values.types) });
  if (!parsed.success) return invalidForm(values, parsed.error, FIELDS);
  try {
    await getHost().operations.patchWebhook(caller, id, parsed.data);
    refresh();
    return { values, errors: {}, outcome: { ok: true, says: 'Changed.' }, secret: null };
  } catch (error) {
    return refusedForm(values, error, caller, FIELDS);
  }
}

/** Replaces the secret. The new one is shown only once. */
export async function rotateSecret(
  id: string,
  _previous: FormState<never>,
  _form: FormData,
): Promise<FormState<never>> {
  expectTexts(id);
  const caller = await requireCaller(`${PATH}/${id}`);
  try {
    const { secret } = await getHost().operations.rotateWebhookSecret(caller, id);
    refresh();
    return { values: {}, errors: {}, outcome: null, secret };
  } catch (error) {
    return refusedForm<never>({}, error, caller, []);
  }
}

async function act(id: string, work: (caller: Caller) => Promise<ActionOutcome | null>): Promise<ActionOutcome | null> {
  expectTexts(id);
  const caller = await requireCaller(`${PATH}/${id}`);
  try {
    const outcome = await work(caller);
    refresh();
    return outcome;
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}

/** Sends a test, and says how it went. */
export async function sendTest(id: string, _previous: ActionOutcome | null): Promise<ActionOutcome | null> {
  return act(id, async (caller) => {
    const { state, status, error, took_ms } = await getHost().operations.testWebhook(caller, id);
    const took = `after ${Math.round(took_ms ?? 0)} ms`;
    if (state === 'delivered') return { ok: true, says: `Taken with ${status} ${took}.` };
    return { ok: false, says: `Not taken ${took}: ${error}` };
  });
}

/** Turns it on, or off. `from`: where one that is turned on begins. */
export async function setEnabled(
  id: string,
  enabled: boolean,
  from: 'stopped' | 'now',
  _previous: ActionOutcome | null,
): Promise<ActionOutcome | null> {
  const patch = { enabled, resume_from: from };
  expectShape(webhookPatchSchema, patch);
  return act(id, async (caller) => {
    await getHost().operations.patchWebhook(caller, id, patch);
    return null;
  });
}

export async function resend(
  id: string,
  delivery: string,
  _previous: ActionOutcome | null,
): Promise<ActionOutcome | null> {
  expectTexts(delivery);
  return act(id, async (caller) => {
    await getHost().operations.resendDelivery(caller, id, delivery);
    return { ok: true, says: 'It is sent again.' };
  });
}

/** Removes it, and goes back to the list. */
export async function removeWebhook(id: string, _previous: ActionOutcome | null): Promise<ActionOutcome | null> {
  const outcome = await act(id, async (caller) => {
    await getHost().operations.deleteWebhook(caller, id);
    return null;
  });
  if (outcome !== null) return outcome;
  redirect(PATH);
}
