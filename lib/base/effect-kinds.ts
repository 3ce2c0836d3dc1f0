/** What kinds of effects there are. Pure. */

/**
 * The kinds of effects. `delegate`: one of our other processes wrote and synced the file. `commit_soon`: a commit that
 * survives a killed process but not a power cut. `store_…`: changes of an object store.
 */
export type EffectKind =
  | 'create'
  | 'write'
  | 'sync'
  | 'sync_folder'
  | 'rename'
  | 'link'
  | 'copy'
  | 'mode'
  | 'owner'
  | 'remove'
  | 'remove_tree'
  | 'make_folder'
  | 'remove_folder'
  | 'delegate'
  | 'commit'
  | 'commit_soon'
  | 'store_put'
  | 'store_remove'
  | 'store_copy';

export interface Effect {
  kind: EffectKind;
  /** Absolute, or `:memory:` of a registry there; of an object its store's URL, a slash and its name. */
  path: string;
  /** The target of a rename, link or copy. */
  to?: string;
}
