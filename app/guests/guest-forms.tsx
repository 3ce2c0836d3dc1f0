'use client';
/** The forms that set a variable and a secret. What is typed as a secret is not shown, then or later. */
import { useActionState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { InputField } from '../settings/form-fields.tsx';
import { blank, type FormAction } from '../settings/form-state.ts';
import { SettingsForm, Wide } from '../settings/settings-form.tsx';

export type VariableField = 'name' | 'value';
export type SecretField = 'name' | 'value' | 'url' | 'header' | 'format';

const PLAIN = { type: 'text', autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;

export function VariableForm({ action }: { action: FormAction<VariableField> }) {
  const [{ values, errors, outcome }, submit] = useActionState(action, blank<VariableField>());
  return (
    <SettingsForm submit={submit} outcome={outcome}>
      <Wide>
        <InputField
          id="variable-name"
          label="Name of the variable"
          name="name"
          {...PLAIN}
          placeholder="STAGE"
          defaultValue={values.name}
          error={errors.name}
        />
      </Wide>
      <Wide>
        <Field form="variable" name="value" title="Its value" error={errors.value}>
          {(props) => (
            <textarea
              {...props}
              key={values.value}
              className="input font-mono text-[0.875rem]"
              rows={2}
              defaultValue={values.value}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
            />
          )}
        </Field>
      </Wide>
      <Wide>
        <Submit doing="Setting…">Set the variable</Submit>
      </Wide>
    </SettingsForm>
  );
}

export function SecretForm({ action }: { action: FormAction<SecretField> }) {
  const [{ values, errors, outcome }, submit] = useActionState(action, blank<SecretField>());
  return (
    <SettingsForm submit={submit} outcome={outcome}>
      <InputField
        id="secret-name"
        label="Name of the secret"
        name="name"
        {...PLAIN}
        placeholder="API_TOKEN"
        note="One of this name is replaced."
        defaultValue={values.name}
        error={errors.name}
      />
      <InputField
        id="secret-value"
        label="The secret"
        name="value"
        type="password"
        autoComplete="new-password"
        note="Encrypted at once. Nobody can read it again."
        error={errors.value}
      />
      <Wide>
        <InputField
          id="secret-url"
          label="Goes to"
          name="url"
          {...PLAIN}
          inputMode="url"
          placeholder="https://api.example.com/v1/"
          note="Requests to this address and below it carry it."
          defaultValue={values.url}
          error={errors.url}
        />
      </Wide>
      <InputField
        id="secret-header"
        label="As the header"
        name="header"
        {...PLAIN}
        placeholder="authorization"
        note="Empty: authorization."
        defaultValue={values.header}
        error={errors.header}
      />
      <InputField
        id="secret-format"
        label="With the value"
        name="format"
        {...PLAIN}
        placeholder="Bearer {}"
        note="{} is the secret. Empty: Bearer {}"
        defaultValue={values.format}
        error={errors.format}
      />
      <Wide>
        <Submit doing="Setting…">Set the secret</Submit>
      </Wide>
    </SettingsForm>
  );
}
