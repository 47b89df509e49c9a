// Files go to the kernel one after the other, piece by piece: the kernel asks for the next piece, so that no more than
// one is ever in memory.  Every message has a number, and its answer has it too: an answer that is late, because the
// kernel was busy, is distinguished from the one expected.  A missing answer is requested again; after some
// tries the upload rests, and can be resumed where it stopped.
const TRIES = 4;

function render({ model, el }) {
  const box = document.createElement("div");
  box.className = "iolab-picker";
  const label = document.createElement("span");
  label.textContent = "Drop logs here, or ";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "choose files";
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.hidden = true;
  const list = document.createElement("ul");
  const hint = document.createElement("p");
  hint.hidden = true;
  hint.setAttribute("role", "status");
  box.append(label, button, input, list, hint);
  el.append(box);

  const waiting = [];
  let current = null;
  let timer = null;
  let count = 0;
  let batch = 0;

  // crypto.randomUUID exists on https and on localhost only; JupyterLab may be on neither.
  const identity = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join("-");

  function add(files) {
    batch += 1;
    for (const file of files) {
      const row = document.createElement("li");
      const name = document.createElement("span");
      const bar = document.createElement("progress");
      const state = document.createElement("span");
      const act = document.createElement("button");
      name.className = "name";
      name.textContent = file.name;
      name.title = file.name;
      bar.max = Math.max(file.size, 1);
      bar.value = 0;
      state.className = "state";
      state.setAttribute("role", "status");
      act.type = "button";
      row.append(name, bar, state, act);
      list.append(row);
      const upload = { id: identity(), file, row, bar, state, act, batch, tries: 0, started: false, awaited: -1 };
      act.addEventListener("click", () => (upload.ended ? remove(upload) : upload.lost ? resume(upload) : stop(upload)));
      row.upload = upload;
      queue(upload);
    }
    next();
  }

  function queue(upload) {
    upload.lost = false;
    upload.tries = 0;
    upload.row.className = "";
    upload.state.textContent = "waiting";
    upload.act.textContent = "cancel";
    waiting.push(upload);
  }

  function next() {
    if (current || waiting.length === 0) return;
    current = waiting.shift();
    current.state.textContent = current.started ? "resuming" : "starting";
    ask(current);
  }

  function ask(upload) {
    if (upload.started) {
      send(upload, { type: "ask" });
    } else {
      send(upload, { type: "open", name: upload.file.name, size: upload.file.size, batch: upload.batch });
    }
  }

  function send(upload, message, buffers) {
    count += 1;
    upload.awaited = count;
    clearTimeout(timer);
    timer = setTimeout(again, model.get("patience_ms"));
    model.send({ ...message, id: upload.id, n: count }, undefined, buffers);
  }

  function again() {
    if (!current) return;
    current.tries += 1;
    if (current.tries > TRIES) {
      const upload = current;
      leave();
      upload.lost = true;
      upload.row.className = "failed";
      upload.state.textContent = "lost: the kernel does not answer (is it busy, or was it restarted?)";
      upload.act.textContent = "resume";
      next();
      return;
    }
    current.state.textContent = "waiting for the kernel";
    ask(current);
  }

  function resume(upload) {
    queue(upload);
    next();
  }

  function stop(upload) {
    if (upload === current) {
      send(upload, { type: "cancel" });
      finish("failed", "cancelled");
    } else {
      const place = waiting.indexOf(upload);
      if (place >= 0) waiting.splice(place, 1);
      if (upload.started) model.send({ type: "cancel", id: upload.id });
      mark(upload, "failed", "cancelled");
    }
  }

  function mark(upload, kind, text) {
    upload.row.className = kind;
    upload.state.textContent = text;
    upload.bar.remove();
    upload.ended = true;
    upload.act.textContent = "remove";
    upload.act.setAttribute("aria-label", "remove " + upload.file.name);
  }

  function remove(upload) {
    model.send({ type: "remove", id: upload.id });
    upload.row.remove();
    say();
  }

  // What the cells below will show; a refused upload is never answered with what was uploaded before it.
  function say() {
    const rows = Array.from(list.children);
    const done = rows.filter((row) => row.className === "done");
    const last = rows.filter((row) => row.upload.batch === batch);
    const isRefused = last.length > 0 && last.every((row) => row.upload.isRefused);
    hint.hidden = current !== null || model.get("is_plain") || (done.length === 0 && !isRefused);
    hint.textContent = !isRefused ? "Uploaded: now run the cells below this one."
      : done.length === 0 ? "No log was uploaded." : "Refused: remove the refused files to see what was uploaded before.";
  }

  function leave() {
    clearTimeout(timer);
    current = null;
  }

  function finish(kind, text) {
    const upload = current;
    leave();
    mark(upload, kind, text);
    next();
    say();
  }

  async function piece(upload, offset) {
    try {
      const part = await upload.file.slice(offset, offset + model.get("piece_bytes")).arrayBuffer();
      if (upload === current) send(upload, { type: "piece", offset }, [part]);
    } catch (error) {
      if (upload === current) {
        send(upload, { type: "cancel" });
        finish("failed", "the browser cannot read the file: " + error.message);
      }
    }
  }

  function answer(message) {
    const upload = current;
    if (!upload || message.id !== upload.id || message.n !== upload.awaited) return;
    upload.tries = 0;
    upload.awaited = -1;
    if (message.type === "next") {
      upload.started = true;
      upload.bar.value = message.offset;
      upload.state.textContent = Math.floor((100 * message.offset) / Math.max(upload.file.size, 1)) + " %";
      piece(upload, message.offset);
    } else if (message.type === "wait") {
      upload.awaited = message.n;
      upload.bar.value = upload.bar.max;
      upload.state.textContent = message.what;
    } else if (message.type === "done") {
      for (const row of Array.from(list.children)) if (row.upload.id === message.replaces) row.remove();
      const open = model.get("open");
      if (open && message.path) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = "open";
        button.addEventListener("click", () => open(message.path));
        upload.act.before(button);
      }
      finish("done", message.what);
    } else if (message.type === "failed" && message.unknown && upload.started) {
      // The kernel gave the upload up meanwhile: from the beginning.
      upload.started = false;
      ask(upload);
    } else if (message.type === "failed") {
      upload.isRefused = true;
      finish("failed", message.message);
    }
  }

  const over = (on) => (event) => {
    event.preventDefault();
    event.stopPropagation();
    box.classList.toggle("over", on);
  };
  box.addEventListener("dragover", over(true));
  box.addEventListener("dragleave", over(false));
  box.addEventListener("drop", (event) => {
    over(false)(event);
    add(event.dataTransfer.files);
  });
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    add(input.files);
    input.value = "";
  });
  model.on("msg:custom", answer);
  return () => {
    // The field is taken away: what is on its way cannot be seen or stopped any more.
    if (current) model.send({ type: "cancel", id: current.id });
    leave();
    model.off("msg:custom", answer);
  };
}

export default { render };
