# Winterdock as an image: the packaged folder (npm run package) on a slim Debian, run by a user who may write its data and nothing else.
#   docker build -t winterdock .
#   docker run --rm -p 127.0.0.1:3000:3000 -v winterdock:/var/lib/winterdock winterdock
#
# Not built with docker: where this was written none ran, and no registry of images could be reached. It was built with buildah 1.28 on images made of the
# same Debian and Node (314 MB with a Debian that is not slim), and run as the first process, on a root that may not be written, without capabilities.
# dockerfile-utils finds nothing in it; scripts/deploy.test.ts holds it to the server's own limits.
FROM node:24-bookworm-slim AS build
WORKDIR /src
ENV NEXT_TELEMETRY_DISABLED=1
COPY package.json package-lock.json ./
COPY scripts/install/slim.cjs scripts/install/
RUN npm ci
COPY . .
RUN npm run package

# Debian with setpriv (util-linux): the kernel then ends a sandbox's process with its server. Alpine has another C library than this Node.
FROM debian:bookworm-slim
RUN groupadd --gid 10001 winterdock \
 && useradd --uid 10001 --gid 10001 --home-dir /var/lib/winterdock --no-create-home --shell /usr/sbin/nologin winterdock \
 && install --directory --owner=10001 --group=10001 --mode=0700 \
      /var/lib/winterdock /var/lib/winterdock-keys /var/lib/winterdock-store
COPY --from=build /src/dist/winterdock /opt/winterdock
ENV PATH=/opt/winterdock/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOST=0.0.0.0 \
    PORT=3000 \
    WB_DATA=/var/lib/winterdock
USER 10001:10001
WORKDIR /var/lib/winterdock
VOLUME /var/lib/winterdock
EXPOSE 3000
# As the first process the server gets its signals itself, and reaps what it starts: nothing that it starts may start anything, so no init is needed.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["/opt/winterdock/runtime/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["winterdock"]
CMD ["start"]
