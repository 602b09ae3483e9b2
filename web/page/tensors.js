// The panel of files.
export async function tensors() {}
