CREATE TABLE `instance_volumes` (
	`instance_row` integer PRIMARY KEY NOT NULL,
	`tenant` text NOT NULL,
	`workspace` integer NOT NULL,
	`memory` integer NOT NULL,
	`tmp` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `volumes_by_tenant` (
	`tenant` text PRIMARY KEY NOT NULL,
	`instances` integer NOT NULL,
	`workspace` integer NOT NULL,
	`memory` integer NOT NULL,
	`tmp` integer NOT NULL
);
--> statement-breakpoint
CREATE TRIGGER instance_volumes_weighed AFTER INSERT ON instance_volumes BEGIN
	INSERT INTO volumes_by_tenant(tenant, instances, workspace, memory, tmp)
		VALUES (new.tenant, 1, new.workspace, new.memory, new.tmp)
		ON CONFLICT DO UPDATE SET instances = instances + 1, workspace = workspace + excluded.workspace,
			memory = memory + excluded.memory, tmp = tmp + excluded.tmp;
END;
--> statement-breakpoint
CREATE TRIGGER instance_volumes_weighed_again AFTER UPDATE ON instance_volumes BEGIN
	UPDATE volumes_by_tenant SET workspace = workspace + new.workspace - old.workspace,
		memory = memory + new.memory - old.memory, tmp = tmp + new.tmp - old.tmp
		WHERE tenant = new.tenant;
END;
--> statement-breakpoint
CREATE TRIGGER instance_volumes_gone AFTER DELETE ON instance_volumes BEGIN
	UPDATE volumes_by_tenant SET instances = instances - 1, workspace = workspace - old.workspace,
		memory = memory - old.memory, tmp = tmp - old.tmp
		WHERE tenant = old.tenant;
END;
--> statement-breakpoint
CREATE TRIGGER instances_buried_volumes AFTER UPDATE OF tombstone ON instances WHEN old.tombstone = 0 AND new.tombstone = 1 BEGIN
	DELETE FROM instance_volumes WHERE instance_row = new.rowid;
END;
