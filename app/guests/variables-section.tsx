/** The variables that guests find: whose they are, and the form that sets one. */
import { WithCall } from '#components/calls/with-call.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Variable } from '#lib/contract/schema.ts';
import { ConfirmButton } from '../settings/confirm-button.tsx';
import { removeVariable, setVariable } from './actions.ts';
import { VariableForm } from './guest-forms.tsx';
import { type Owner, variablesOf } from './owners.ts';

const PATCH = { sandbox: 'patchInstanceEnv', tenant: 'patchTenantEnv', blueprint: 'patchBlueprintEnv' } as const;
const PARAMETER = { sandbox: 'id', tenant: 'tenant', blueprint: 'name' } as const;
const NOTE = {
  sandbox:
    'What the shell, Python, JavaScript and components find. Its own go before those of its blueprint and its tenant.',
  tenant: 'What the shell, Python, JavaScript and components of all its sandboxes find.',
  blueprint: 'What all its clones find, of every tenant, before those of the tenant.',
} as const;

function Value({ variable: { value, is_set: isSet } }: { variable: Variable }) {
  if (value !== null) {
    return <code className="[overflow-wrap:anywhere] whitespace-pre-wrap">{value === '' ? '(empty)' : value}</code>;
  }
  return isSet ? (
    <span className="text-ink-3">not for your role</span>
  ) : (
    <span className="text-fault-ink">missing</span>
  );
}

function Variables({ variables, owner, mayChange }: { variables: Variable[]; owner: Owner; mayChange: boolean }) {
  if (variables.length === 0) return <p className="mb-6 text-ink-2">None.</p>;
  const hasOthers = owner.kind === 'sandbox';
  return (
    <table className="ledger ledger-cards mb-6">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Value</th>
          {hasOthers && <th scope="col">Of</th>}
          {mayChange && (
            <th scope="col">
              <span className="sr-only">Remove</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {variables.map((variable) => {
          const { name, from } = variable;
          return (
            <tr key={name}>
              <td className="max-md:col-span-full [overflow-wrap:anywhere] md:min-w-44">
                <code className="font-[540]">{name}</code>
              </td>
              <td className="max-md:col-span-full md:w-full">
                <Value variable={variable} />
              </td>
              {hasOthers && (
                <td className="max-md:col-start-1 whitespace-nowrap text-small text-ink-2">
                  {from === 'sandbox' ? 'its own' : `its ${from}`}
                </td>
              )}
              {mayChange && (
                <td className="max-md:col-start-2 max-md:text-right">
                  {from === owner.kind && (
                    <WithCall
                      name={PATCH[owner.kind]}
                      path={{ [PARAMETER[owner.kind]]: owner.name }}
                      body={{ env: { [name]: null } }}
                    >
                      <ConfirmButton
                        action={removeVariable.bind(null, owner, name)}
                        button="Remove"
                        doing="Removing…"
                        label={`the variable ${name}`}
                      />
                    </WithCall>
                  )}
                </td>
              )}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** `tenant`: whose sandbox it is, or the tenant itself. */
export async function VariablesSection({ caller, owner, tenant }: { caller: Caller; owner: Owner; tenant?: string }) {
  const variables = await variablesOf(caller, owner);
  const name = PATCH[owner.kind];
  const why = whyNot(caller, name, tenant === undefined ? {} : { tenant });
  const missing = variables.filter(({ is_set: isSet }) => !isSet);
  return (
    <PageSection id="variables" name="Variables" note={NOTE[owner.kind]}>
      {missing.length > 0 && (
        <p className="mb-3">
          {missing.length === 1 ? 'One name' : `${missing.length} names`} came without a value:{' '}
          {missing.map((one) => one.name).join(', ')}. Set {missing.length === 1 ? 'it' : 'them'} here, or for the
          tenant.
        </p>
      )}
      <Variables variables={variables} owner={owner} mayChange={why === null} />
      {why === null ? (
        <WithCall
          name={name}
          path={{ [PARAMETER[owner.kind]]: owner.name }}
          fields={{ name: { to: 'env', kind: 'variable' } }}
        >
          <VariableForm action={setVariable.bind(null, owner)} />
        </WithCall>
      ) : (
        <DisabledAction id="variables" label="Set the variable" whyNot={why} />
      )}
    </PageSection>
  );
}
