/** What the document says of one call, as plain HTML: all there is without JavaScript. */
import type { ReactNode } from 'react';
import { curlText } from '#lib/client/call-text.ts';
import { exampleValues, sampleOf } from './call-values.ts';
import type { ListedOperation } from './document.ts';
import { Prose } from './prose.tsx';

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid gap-x-5 gap-y-0.5 md:grid-cols-[5.5rem_minmax(0,1fr)]">
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

/** Who may make the call, and what it answers. */
export function CallContract({ operation: { access, answers } }: { operation: ListedOperation }) {
  return (
    <>
      {access !== null && (
        <Fact name="Access">
          <Prose text={access} />
        </Fact>
      )}
      <Fact name="Answers">
        {answers.map(({ status, description, type }) => (
          <span key={status} className="block">
            <code>{status}</code> <Prose text={description} />
            {type !== null && (
              <>
                {' '}
                · <code>{type}</code>
              </>
            )}
          </span>
        ))}
      </Fact>
    </>
  );
}

export function CallFacts({ operation, origin }: { operation: ListedOperation; origin: string }) {
  const { parameters, body } = operation;
  return (
    <dl className="grid gap-3 pt-1 pb-5 text-small">
      {parameters.length > 0 && (
        <Fact name="Parameters">
          {parameters.map(({ name, place, required }) => (
            <span key={`${place} ${name}`} className="block">
              <code>{name}</code> in the {place}
              {required ? '' : ', optional'}
            </span>
          ))}
        </Fact>
      )}
      {body !== null && (
        <Fact name="Body">
          <pre className="whitespace-pre-wrap">{body.example === '' ? 'bytes' : body.example}</pre>
        </Fact>
      )}
      <Fact name="curl">
        <pre className="whitespace-pre-wrap">{curlText(sampleOf(operation, exampleValues(operation)), origin)}</pre>
      </Fact>
      <CallContract operation={operation} />
    </dl>
  );
}
