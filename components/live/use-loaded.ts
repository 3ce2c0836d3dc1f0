/** Loads a component when the browser first needs it: what the server rendered stands until then. */
import { type ComponentType, useEffect, useState } from 'react';

/** The component, or null as long as it is not needed or not there. */
export function useLoaded<P>(needed: boolean, load: () => Promise<ComponentType<P>>): ComponentType<P> | null {
  const [loaded, setLoaded] = useState<ComponentType<P> | null>(null);
  useEffect(() => {
    if (!needed || loaded !== null) return;
    let open = true;
    load().then(
      (component) => {
        if (open) setLoaded(() => component);
      },
      // It did not come: the page stays as rendered until the next change asks again, or it is rendered again.
      () => {},
    );
    return () => {
      open = false;
    };
  });
  return needed ? loaded : null;
}
