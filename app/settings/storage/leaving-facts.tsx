/** How far a server is that is to do without its store: what is still to come, what stays and why, what to do then. */
import { AutoRefresh } from '#components/ui/auto-refresh.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { ProgressBar } from '#components/ui/progress-bar.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Storage } from '#lib/contract/schema.ts';
import { figures, leftOfAll } from './store-words.ts';

type Leaving = NonNullable<NonNullable<Storage['store']>['leaving']>;

const REFRESH_MS = 2000;

export function LeavingFacts({ leaving, rendered }: { leaving: Leaving; rendered: number }) {
  const { since, sandboxes, copies, bytes, done } = leaving;
  if (done) {
    return (
      <div className="grid max-w-3xl gap-3">
        <p>
          Every file is on this machine. Restart the server without <code>WB_COLD_URL</code> and{' '}
          <code>WB_STORE_LEAVING</code>.
        </p>
        <p className="text-small text-ink-2">
          Nothing was removed from the store. A server that runs without it needs what lies under <code>drawers/</code>{' '}
          there no more; backups and a replica there are apart from it.
        </p>
      </div>
    );
  }
  return (
    <div className="grid gap-5">
      <p className="max-w-3xl">
        The server brings every file from the store to this machine while it serves, and stores nothing more.
      </p>
      <FactList>
        <Fact name="Sandboxes on this machine" wide>
          <ProgressBar label="Sandboxes on this machine" value={sandboxes.of - sandboxes.left} max={sandboxes.of} />
        </Fact>
        {copies.of > 0 && (
          <Fact name="Snapshots and blueprints on this machine" wide>
            <ProgressBar
              label="Snapshots and blueprints on this machine"
              value={copies.of - copies.left}
              max={copies.of}
            />
          </Fact>
        )}
        <Fact name="Still to come">
          {sizeInWords(bytes.left)} of {sizeInWords(bytes.of)}
        </Fact>
        <Fact name="Under way since">
          <RelativeTime at={since} rendered={rendered} />
        </Fact>
      </FactList>
      <Staying leaving={leaving} />
      <AutoRefresh everyMs={REFRESH_MS} />
    </div>
  );
}

/** What could not be brought in the last round, each with its reason. */
function Staying({ leaving }: { leaving: Leaving }) {
  const { stays } = leaving;
  if (stays.length === 0) return null;
  const others = leftOfAll(leaving) - stays.length;
  return (
    <div className="grid gap-2">
      <table className="ledger">
        <thead>
          <tr>
            <th scope="col">Stays for now</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {stays.map(({ name, why }) => (
            <tr key={name}>
              <td className="[overflow-wrap:anywhere]">{name}</td>
              <td className="[overflow-wrap:anywhere]">{why}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="max-w-3xl text-small text-ink-2">
        {others > 0 && `${figures(others)} more are left. `}
        All of it is tried again, at most a minute apart. A file that the store has lost comes from nowhere: delete its
        sandbox, or give it another file, and the rest ends.
      </p>
    </div>
  );
}
