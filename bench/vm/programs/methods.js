class Square {
  constructor(side) {
    this.side = side;
  }

  area() {
    return this.side * this.side;
  }

  scaled(factor) {
    return this.side * factor;
  }
}

class Box {
  constructor(width, height) {
    this.width = width;
    this.height = height;
  }

  area() {
    return this.width * this.height;
  }

  scaled(factor) {
    return this.area() * factor;
  }
}

function measure(n) {
  const square = new Square(3);
  const crate = new Box(4, 5);
  let total = 0;
  for (let i = 0; i < n; i++) {
    const factor = i % 4;
    total = (total + square.area() + crate.scaled(factor) + square.scaled(factor)) % 1000003;
  }
  return total;
}

console.log(measure(Number(process.argv[2] ?? 1500000)));
