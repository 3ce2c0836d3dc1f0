/** Every operation as plain HTML, for before JavaScript runs and without it. */
import type { ListedOperation } from './document.ts';

/** Text with `code` between backticks. */
export function Prose({ text }: { text: string }) {
  const pieces = text.split('`').map((piece, at) => ({ at, piece }));
  return pieces.map(({ at, piece }) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece));
}

function Call({ operation }: { operation: ListedOperation }) {
  const { method, path, summary, parameters, body, answers } = operation;
  return (
    <details className="call">
      <summary>
        <span className={`method method-${method.toLowerCase()}`}>{method}</span>
        <code className="call-path">{path}</code>
        <span className="call-says">
          <Prose text={summary} />
        </span>
      </summary>
      <dl className="call-facts">
        {parameters.length > 0 && (
          <div>
            <dt>Parameters</dt>
            <dd>
              {parameters.map(({ name, place, required }) => (
                <span key={`${place} ${name}`} className="block">
                  <code>{name}</code> in the {place}
                  {required ? '' : ', optional'}
                </span>
              ))}
            </dd>
          </div>
        )}
        {body !== null && (
          <div>
            <dt>Body</dt>
            <dd>
              <pre>{body}</pre>
            </dd>
          </div>
        )}
        <div>
          <dt>Answers</dt>
          <dd>
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
          </dd>
        </div>
      </dl>
    </details>
  );
}

export function Reference({ tags }: { tags: [tag: string, operations: ListedOperation[]][] }) {
  return tags.map(([tag, operations]) => (
    <section key={tag} className="calls" aria-labelledby={`tag-${tag}`}>
      <h3 id={`tag-${tag}`}>{tag}</h3>
      {operations.map((operation) => (
        <Call key={operation.name} operation={operation} />
      ))}
    </section>
  ));
}
