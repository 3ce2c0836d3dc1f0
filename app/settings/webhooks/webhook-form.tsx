'use client';
/** The forms that set up a webhook, change it, and replace its secret. A secret is shown once. */
import { useActionState } from 'react';
import { Submit } from '#components/ui/submit.tsx';
import { InputField } from '../form-fields.tsx';
import { blank, type FormAction } from '../form-state.ts';
import { SecretOnce } from '../secret-once.tsx';
import { SettingsForm, Wide } from '../settings-form.tsx';
import type { WebhookField } from './actions.ts';

const SECRET_SAYS = 'Copy the secret now and give it to the receiver: it is shown only once.';

/** `webhook`: the one to change; absent: a new one. */
export function WebhookForm({
  action,
  webhook,
}: {
  action: FormAction<WebhookField>;
  webhook?: { name: string; url: string; types: string };
}) {
  const [{ values, errors, outcome, secret }, submit] = useActionState(action, blank<WebhookField>(webhook ?? {}));
  const button = webhook === undefined ? 'Set up a webhook' : 'Change it';
  return (
    <SettingsForm
      submit={submit}
      outcome={outcome}
      made={secret !== null && <SecretOnce secret={secret} name="secret" says={SECRET_SAYS} />}
    >
      <InputField
        id="webhook-name"
        label="Name"
        name="name"
        maxLength={200}
        placeholder="on call"
        defaultValue={values.name}
        error={errors.name}
      />
      {webhook === undefined && (
        <InputField
          id="webhook-tenant"
          label="Tenant"
          name="tenant"
          maxLength={63}
          placeholder="acme"
          note="Empty: all lines."
          defaultValue={values.tenant}
          error={errors.tenant}
        />
      )}
      <Wide>
        <InputField
          id="webhook-url"
          label="Address"
          name="url"
          type="text"
          inputMode="url"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={2000}
          placeholder="https://ops.example/hook"
          defaultValue={values.url}
          error={errors.url}
        />
      </Wide>
      <Wide>
        <InputField
          id="webhook-types"
          label="Told of"
          name="types"
          spellCheck={false}
          autoCapitalize="none"
          note={
            <>
              <code>problems</code>: faults and refusals. <code>transition</code>, <code>schedule.*</code>: types of
              lines. Empty: everything.
            </>
          }
          defaultValue={values.types ?? (webhook === undefined ? 'problems' : '')}
          error={errors.types}
        />
      </Wide>
      <Wide>
        <Submit className={webhook === undefined ? 'button button-ink' : 'button'} doing="Saving…">
          {button}
        </Submit>
      </Wide>
    </SettingsForm>
  );
}

export function RotateForm({ action }: { action: FormAction<never> }) {
  const [{ outcome, secret }, submit] = useActionState(action, blank<never>());
  return (
    <SettingsForm
      submit={submit}
      outcome={outcome}
      made={secret !== null && <SecretOnce secret={secret} name="secret" says={SECRET_SAYS} />}
    >
      <Wide>
        <Submit doing="Replacing…">Replace the secret</Submit>
      </Wide>
    </SettingsForm>
  );
}
