"""What things are: nouns of everyday talk under a more general word, which is none of them. Our own table."""

from __future__ import annotations

# what it is | words for it
MORE_NOUNS = """
a pet|spaniel terrier labrador corgi beagle husky dachshund pug bulldog collie tabby siamese gerbil canary
a pet|budgie ferret tortoise iguana gecko snail chinchilla
an animal|animal bear wolf fox deer elephant lion tiger monkey giraffe dolphin whale shark owl eagle squirrel
an animal|hedgehog bee butterfly spider insect frog lizard mouse rat donkey pony llama alpaca turkey swan
an animal|penguin wildlife
a vehicle|motorhome camper rv caravan minivan suv taxi cab uber ferry ship plane airplane helicopter yacht kayak
a vehicle|canoe sailboat subway metro tractor skateboard rollerblades
a vehicle part|tire tyre wheel engine brake battery windshield transmission bumper
a place to live|place residence dorm bungalow mansion farmhouse cabin condo duplex townhouse penthouse basement
a place to live|attic neighborhood neighbourhood household
a part of a building|kitchen bathroom bedroom garage balcony porch roof wall door window floor ceiling stairs
a part of a building|hallway lobby yard backyard patio fence office
a piece of furniture|furniture armchair bookcase bookshelf dresser nightstand cabinet stool bench mattress rug
a piece of furniture|carpet curtain mirror crib cot hammock
a household appliance|fridge refrigerator oven stove microwave dishwasher washer dryer toaster blender kettle
a household appliance|vacuum heater fan mixer airfryer
a tool|hammer drill saw screwdriver wrench ladder shovel knife scissors needle brush toolbox
kitchenware|mug cup plate fork spoon pan jar bottle teapot tray dish dishes
a device|gadget headphones earbuds speaker tv television remote charger router drone projector microphone tablet
a device|smartphone desktop keyboard webcam nintendo switch thermostat
a garment|clothes clothing outfit blouse shorts leggings pajamas pyjamas socks gloves uniform costume gown
a garment|tuxedo cardigan vest tee jersey swimsuit bikini tie belt
something to wear|bag backpack purse handbag wallet umbrella pendant brooch locket
something to eat|food snack dish recipe dessert cupcake muffin brownie doughnut donut pancake waffle croissant
something to eat|bagel pastry tart chocolate candy ice-cream icecream steak chicken salmon noodles tacos burrito
something to eat|lasagna stew omelette barbecue turkey supper brunch feast cookie biscuit popcorn cereal
groceries|grocery ingredients sugar salt spices garlic onion potato potatoes carrot apple apples banana berries
groceries|strawberries lemon avocado beans nuts honey yogurt meat beef pork bacon
something to drink|drink cocktail smoothie latte cappuccino soda lemonade whiskey whisky vodka gin champagne
something to drink|kombucha milkshake
a musical instrument|instrument banjo harmonica harp accordion bass organ synthesizer
music|song songs album playlist tune melody track lyrics chorus band choir orchestra jazz rock classical
a live performance|performance standup circus festival play audition
a movie|movie movies trilogy sequel comedy thriller drama episode cartoon anime documentary season
something to read|books novels poem poetry biography memoir newspaper journal blog chapter story stories trilogy
something to read|fantasy
a work of art|art artwork canvas watercolor ceramics clay craft crafts statue tapestry collage origami
a work of art|illustration design doodle
a hobby|hobby photography gardening knitting baking cooking painting drawing writing reading chess puzzles
a hobby|puzzle crochet sewing woodworking calligraphy
a pastime|game games videogame videogames boardgame cards lego toys toy doll poker trivia fortnite minecraft
a competition|cup finals qualifier derby hackathon audition trial showdown prize
an award|medal trophy ribbon certificate scholarship grant prize award
a sport|sports basketball baseball cricket rugby badminton judo karate wrestling fencing archery gymnastics
a sport|skiing snowboarding skating cycling rowing sailing kayaking hiking pilates crossfit workout workouts
a sport|fitness taekwondo surf zumba dancing dance
a way to keep fit|exercise jog jogging gym weights cardio stretching squats steps
an exam|exam exams assessment certification boards gmat gre toefl
a course of lessons|classes courses workshops tutorial lecture curriculum major semester webinar
an educational institution|campus preschool daycare highschool faculty department
a person who teaches|teacher professor instructor tutor coach mentor lecturer principal
a workplace|gig career employment work business firm agency headquarters factory warehouse
a job task|task tasks shift project projects assignment deadline presentation meeting meetings report workload
a job task|duty duties
a business meeting|interview conference call standup demo negotiation pitch review
a person at work|boss manager supervisor coworker coworkers colleagues colleague client clients customer
a person at work|customers employee employees intern recruiter ceo founder partner team staff crew
a health professional|physician pediatrician optometrist chiropractor pharmacist psychiatrist counselor
a health professional|counsellor midwife specialist cardiologist dermatologist
a medical matter|illness disease flu cold fever infection allergy allergies asthma migraine headache injury pain
a medical matter|cancer diagnosis treatment therapy xray mri biopsy pills medicine antibiotics vaccination covid
a medical matter|pregnancy anxiety depression stress
a place of care|hospital clinic er pharmacy hospice ward
a part of the body|back neck head hair tooth teeth eye eyes ear nose mouth heart stomach skin face chest muscle
a part of the body|bone hip
a social occasion|event events gathering get-together meetup ceremony anniversary graduation baby-shower shower
a social occasion|prom ball gala bbq cookout potluck brunch sleepover feast banquet funeral baptism christening
a social occasion|engagement
a holiday|christmas easter halloween thanksgiving hanukkah ramadan diwali valentine new-year
time off|travel journey tour excursion roadtrip road-trip staycation adventure safari expedition days leave
time off|sabbatical
a means of travel|flight flights ride commute layover transfer
a place to stay|hotel hostel motel airbnb resort campsite campground inn bnb tent
the outdoors|nature mountains hills hill river ocean sea coast island waterfall canyon desert valley meadow
the outdoors|field sunset sunrise sky stars view scenery countryside beachside trails peak glacier
weather|rain snow storm thunderstorm wind heat heatwave fog hurricane tornado sunshine
a public place|street road square bridge station airport harbor harbour market mall plaza playground zoo
a public place|aquarium stadium arena court courthouse bank church temple mosque synagogue cemetery
a cultural place|exhibit studio venue planetarium monument castle palace
a business|supermarket grocer deli diner pub nightclub club salon barber spa laundromat garage dealership
a business|brewery winery pizzeria bookstore cafe coffee-shop
a charity event|donation donations volunteering cause nonprofit campaign foodbank foundation
a cause|rights equality awareness activism environment climate community justice pride
a group|group club society association union organization organisation council committee network forum
relatives|parent wife husband spouse kids kid child children baby twins siblings grandparents grandma grandpa
relatives|nephew niece fiance fiancee in-laws stepson stepdaughter godmother toddler newborn grandson
relatives|granddaughter cousins mama papa family
a friend|pal mate bestie bff girlfriend boyfriend flatmate housemate companion acquaintance guy guys people
a friend|folks person crowd stranger guest guests fans
official papers|id certificate insurance policy paperwork document documents registration license permit divorce
official papers|custody
money matters|money cash savings deposit investment stocks shares pension debt payment invoice receipt refund
money matters|tax raise bonus paycheck wage income price cost bills loan funding funds
something ordered|package parcel delivery order shipment gift gifts present presents card voucher coupon
a plant|plants flower roses tulips cactus succulent basil lettuce pumpkin weeds lawn orchid sunflower bouquet
a plant|seedlings
software|program application tool service endpoint function module package plugin dashboard page site web query
software|code codebase repo repository backend frontend docker kubernetes pipeline test tests model algorithm
software|chatbot
a technical setting|config configuration setting flag variable key token password account login permission
a code change|merge rollback deploy deployment hotfix upgrade update changes change
data|file files table column record records dataset spreadsheet log logs backup csv json schema index
a document|email emails message messages memo resume cv agenda contract draft paper blogpost article slides list
a document|plan plans script chapter diary journal
information|news info advice tips tip details update feedback idea ideas suggestion suggestions answer answers
information|question questions opinion view story stories fact facts knowledge
a feeling|joy happiness love fear anger sadness grief loneliness hope excitement confidence pride gratitude
a feeling|peace passion emotions emotion feelings mood nerves courage
a goal|goal goals dream dreams aim target milestone resolution ambition purpose
a difficulty|problem problems trouble setback setbacks obstacle obstacles challenge challenges conflict argument
a difficulty|mistake mistakes difficulty difficulties failure doubt doubts loss
progress|success achievement accomplishment improvement results result growth win victory opportunity
progress|opportunities chance breakthrough
an ability|skill skills talent technique techniques expertise language spanish french german italian greek
an ability|japanese english
a time spent together|time fun conversation conversations chat talk visit hangout date night evening afternoon
a time spent together|day weekend moment moments memories memory
a part of life|life lifestyle routine habit relationship relationships friendship marriage health future
a part of life|childhood identity journey transition
help|support assistance hand guidance encouragement care counseling counselling
a way of looking|look style haircut tattoo makeup hairstyle beard nails
pictures|image images pic pics snapshot footage video videos clip clips camera
a place to exercise|rink dojo track stadium
a defect|damage flaw glitch incident breakdown vulnerability exception warning
rubbish|trash garbage waste litter recycling junk
a town|city town village capital suburb downtown
a country|country nation abroad overseas homeland
a region|area region state province county territory
a product|product products brand item items stuff things thing merchandise line collection
a business plan|startup company brand store venture franchise partnership investors marketing advertising ads
a business plan|campaign
media|show podcast channel radio television stream youtube instagram facebook twitter tiktok netflix
a religious matter|faith god bible prayer mass service
a political matter|election vote government law policy politics protest rally
""".strip()
