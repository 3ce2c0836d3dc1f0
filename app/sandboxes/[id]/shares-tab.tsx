/** The Shares tab: ship a bundle, check out the workspace, and the list of shares. */

import { redirect } from 'next/navigation';
import { callMark } from '#components/calls/call-mark.ts';
import { WithCall } from '#components/calls/with-call.tsx';
import { ShareTable } from '#components/sandbox/share-table.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { actorNames } from '../../actor-names.ts';
import { readFlash } from '../../flash.ts';
import { FlashRefusal } from '../../flash-refusal.tsx';
import { type SearchParams, singleValues } from '../../search-params.ts';
import { tabAddress } from './tab-names.ts';
import { whyNoCopy } from './use-refusals.ts';

const SHOWN = 50;

function Ship({ id }: { id: string }) {
  const action = `/sandboxes/${id}/ship`;
  return (
    <div className="grid max-w-2xl gap-5">
      <form action={action} method="post" className="grid gap-2">
        <div>
          <button type="submit" className="button button-ink">
            Ship the workspace
          </button>
        </div>
        <p className="text-small text-ink-2">
          A signed bundle of the workspace only. memory and tmp are stripped from the copy, freed pages included.
        </p>
      </form>
      <details className="group">
        <summary className="text-small underline decoration-(--rule-2) underline-offset-4">
          Ship the private volumes too
        </summary>
        <form action={action} method="post" className="mt-3 grid gap-3 border-l-4 border-fault bg-fault-wash px-5 py-4">
          <p>
            <strong className="font-[600]">memory and tmp leave the building with this one.</strong> Everyone who gets
            the bundle can read what the sandbox has learned, and its temporary files.
          </p>
          <input type="hidden" name="everything" value="1" />
          <label className="flex items-baseline gap-2.5">
            <input
              type="checkbox"
              className="size-4 flex-none accent-ink translate-y-0.5"
              name="understood"
              value="1"
              required
            />
            <span>I mean it: the private volumes may be read outside.</span>
          </label>
          <div>
            <button type="submit" className="button button-fault">
              Ship all three volumes
            </button>
          </div>
        </form>
      </details>
    </div>
  );
}

export async function SharesTab({
  caller,
  instance,
  search,
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  search: SearchParams;
  rendered: number;
}) {
  const { id } = instance;
  const { cursor, flash } = singleValues(search);
  const first = tabAddress(id, 'shares');
  const page = await getHost()
    .operations.instanceShares(caller, id, { limit: SHOWN, ...(cursor === undefined ? {} : { cursor }) })
    .catch((error: unknown) => {
      if (isWinterdockError(error) && error.code === 'validation' && cursor !== undefined) return null;
      throw error;
    });
  if (page === null) redirect(first);
  const { items, next } = page;
  const noShip = whyNoCopy(caller, 'ship', instance);
  const noCheckout = whyNoCopy(caller, 'checkout', instance);
  return (
    <>
      <PageSection
        id="ship"
        name="Ship"
        note="A bundle leaves the building as a file. Each one is kept as a share, with its hashes."
      >
        <FlashRefusal flash={readFlash(caller, flash)} />
        {noShip === null ? (
          <WithCall name="shipInstance" path={{ id }} fields={{ everything: { to: 'include_private', kind: 'true' } }}>
            <Ship id={id} />
          </WithCall>
        ) : (
          <DisabledAction id="ship" label="Ship the workspace" whyNot={noShip} />
        )}
      </PageSection>
      <PageSection id="checkout" name="Check out" note="The work as plain files, ready for git.">
        {noCheckout === null ? (
          <div className="grid max-w-2xl gap-2">
            <div>
              <a
                href={`/api/instances/${id}/checkout?format=tar.gz`}
                download
                className="button"
                {...callMark({ name: 'checkoutInstance', path: { id }, query: { format: 'tar.gz' } })}
              >
                Download the work
              </a>
            </div>
            <p className="text-small text-ink-2">
              A tar.gz of the workspace as a directory tree, with a .gitignore that keeps the private volumes out. What
              git takes commands from is not in it: its last file lists that.
            </p>
          </div>
        ) : (
          <DisabledAction id="checkout" label="Check out" whyNot={noCheckout} />
        )}
      </PageSection>
      <PageSection id="shares" name="Shares" note="Every bundle that left, newest first.">
        {items.length === 0 ? (
          <p className="text-ink-2">Nothing of it has left the building.</p>
        ) : (
          <ShareTable
            shares={items}
            names={await actorNames(items.map(({ actor }) => actor))}
            rendered={rendered}
            showInstance={false}
          />
        )}
        <Pagination
          first={cursor === undefined ? null : first}
          next={
            next === null ? null : `/sandboxes/${id}?${new URLSearchParams({ tab: 'shares', cursor: next })}#shares`
          }
        />
      </PageSection>
    </>
  );
}
