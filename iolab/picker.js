// Files go to the kernel one after the other, piece by piece: the kernel asks for the next piece, so that no more than
// one is ever in memory.  An answer that does not come is asked for again; after some tries the upload is given up.
const PATIENCE_MS = 15000;
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
  box.append(label, button, input, list);
  el.append(box);

  const waiting = [];
  let current = null;
  let timer = null;

  function add(files) {
    for (const file of files) {
      const row = document.createElement("li");
      const name = document.createElement("span");
      const bar = document.createElement("progress");
      const state = document.createElement("span");
      const cancel = document.createElement("button");
      name.className = "name";
      name.textContent = file.name;
      name.title = file.name;
      bar.max = Math.max(file.size, 1);
      bar.value = 0;
      state.className = "state";
      state.textContent = "waiting";
      cancel.type = "button";
      cancel.textContent = "cancel";
      row.append(name, bar, state, cancel);
      list.append(row);
      const upload = { id: crypto.randomUUID(), file, row, bar, state, cancel, tries: 0 };
      cancel.addEventListener("click", () => stop(upload));
      waiting.push(upload);
    }
    next();
  }

  function next() {
    if (current || waiting.length === 0) return;
    current = waiting.shift();
    current.state.textContent = "starting";
    send({ type: "open", id: current.id, name: current.file.name, size: current.file.size });
  }

  function send(message, buffers) {
    model.send(message, undefined, buffers);
    clearTimeout(timer);
    timer = setTimeout(again, PATIENCE_MS);
  }

  function again() {
    if (!current) return;
    current.tries += 1;
    if (current.tries > TRIES) {
      finish("failed", "the kernel does not answer: is it running? Choose the file again then");
      return;
    }
    current.state.textContent = "waiting for the kernel";
    send({ type: "ask", id: current.id });
  }

  function stop(upload) {
    if (upload === current) {
      send({ type: "cancel", id: upload.id });
      finish("failed", "cancelled");
    } else {
      const place = waiting.indexOf(upload);
      if (place >= 0) waiting.splice(place, 1);
      mark(upload, "failed", "cancelled");
    }
  }

  function mark(upload, kind, text) {
    upload.row.className = kind;
    upload.state.textContent = text;
    upload.bar.remove();
    upload.cancel.remove();
  }

  function finish(kind, text) {
    clearTimeout(timer);
    mark(current, kind, text);
    current = null;
    next();
  }

  async function piece(upload, offset) {
    try {
      const part = await upload.file.slice(offset, offset + model.get("piece_bytes")).arrayBuffer();
      if (upload === current) send({ type: "piece", id: upload.id, offset }, [part]);
    } catch (error) {
      if (upload === current) {
        send({ type: "cancel", id: upload.id });
        finish("failed", "the browser cannot read the file: " + error.message);
      }
    }
  }

  function answer(message) {
    if (!current || message.id !== current.id) return;
    current.tries = 0;
    if (message.type === "next") {
      current.bar.value = message.offset;
      current.state.textContent = Math.floor((100 * message.offset) / Math.max(current.file.size, 1)) + " %";
      piece(current, message.offset);
    } else if (message.type === "done") {
      finish("done", message.what);
    } else if (message.type === "failed") {
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
    clearTimeout(timer);
    model.off("msg:custom", answer);
  };
}

export default { render };
