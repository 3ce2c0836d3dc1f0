'use server';
/** Server actions for people: invite, change rights, disable. */
import { refresh } from 'next/cache';
import { headers } from 'next/headers';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { inviteSchema, personPatchSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectTexts } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { tenantsOf } from '../account-words.ts';
import { invalidForm, refusedForm, trimmedFields } from '../form-parser.ts';
import type { FormState } from '../form-state.ts';

export type InviteField = 'email' | 'role' | 'tenants';
export type PersonField = 'name' | 'role' | 'tenants';

const INVITE_FIELDS: readonly InviteField[] = ['email', 'role', 'tenants'];
const PERSON_FIELDS: readonly PersonField[] = ['name', 'role', 'tenants'];

/** The link at the visitor's own address of the server, unless the server knows its public one. */
async function linkHere(link: string): Promise<string> {
  const { publicUrl } = getHost().config;
  const origin = (await headers()).get('origin');
  if (publicUrl !== null || origin === null || !URL.canParse(origin)) return link;
  const { pathname, search } = new URL(link);
  return `${new URL(origin).origin}${pathname}${search}`;
}

/** Creates an invitation. Its link is shown only once. */
export async function invitePerson(_previous: FormState<InviteField>, form: FormData): Promise<FormState<InviteField>> {
  const caller = await requireCaller('/settings/people');
  const values = trimmedFields(form, INVITE_FIELDS);
  const parsed = inviteSchema.safeParse({
    email: values.email || undefined,
    role: values.role,
    tenants: tenantsOf(values.tenants),
  });
  if (!parsed.success) return invalidForm(values, parsed.error, INVITE_FIELDS);
  try {
    const { link } = await getHost().operations.invite(caller, parsed.data);
    refresh();
    return { values: {}, errors: {}, outcome: null, secret: await linkHere(link) };
  } catch (error) {
    return refusedForm(values, error, caller, INVITE_FIELDS);
  }
}

/** Withdraws an open invitation. */
export async function withdrawInvitation(
  id: string,
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(id);
  const caller = await requireCaller('/settings/people');
  try {
    await getHost().operations.withdrawInvitation(caller, id);
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return null;
}

/** Changes a person's name, role and tenants. */
export async function changePerson(
  id: string,
  _previous: FormState<PersonField>,
  form: FormData,
): Promise<FormState<PersonField>> {
  expectTexts(id);
  const caller = await requireCaller(`/settings/people/${id}`);
  const values = trimmedFields(form, PERSON_FIELDS);
  const { name, role } = values;
  const parsed = personPatchSchema.safeParse({ name, role, tenants: tenantsOf(values.tenants) });
  if (!parsed.success) return invalidForm(values, parsed.error, PERSON_FIELDS);
  try {
    await getHost().operations.patchPerson(caller, id, parsed.data);
  } catch (error) {
    return refusedForm(values, error, caller, PERSON_FIELDS);
  }
  refresh();
  return { values, errors: {}, outcome: { ok: true, says: 'It holds from now on.' }, secret: null };
}

/** Disables or enables a person's account. */
export async function setDisabled(
  id: string,
  disabled: boolean,
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(id);
  const caller = await requireCaller(`/settings/people/${id}`);
  try {
    await getHost().operations.patchPerson(caller, id, { disabled });
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return {
    ok: true,
    says: disabled ? 'The account is disabled and its sessions are ended.' : 'The account is enabled.',
  };
}
