//! The services that send events, as programs may list them.

use harn_machine::Registry;

pub(crate) fn register(registry: &mut Registry) {
    registry.file("providers", include_str!("../harn/providers.harn"));
    registry.harn(
        "providers",
        &[("list_providers_native", "list_providers_native")],
    );
}
